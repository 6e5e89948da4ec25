// Resolves packages that are not installed here from the folder of test/peers that COUNTERSIGN_PEER names.
import { registerHooks } from "node:module";

const parentURL = new URL(`../../peers/${process.env.COUNTERSIGN_PEER}/package.json`, import.meta.url).href;

registerHooks({
  resolve: (specifier, context, next) => {
    try {
      return next(specifier, context);
    } catch (error) {
      if (error?.code !== "ERR_MODULE_NOT_FOUND") throw error;
      return next(specifier, { ...context, parentURL });
    }
  },
});
