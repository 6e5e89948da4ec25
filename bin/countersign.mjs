#!/usr/bin/env node
import { start } from "./start.mjs";

start(() => import("../dist/cli/main.js"), "Install a newer one from https://nodejs.org and try again.");
