import { type ReactNode, useEffect, useRef, useState } from "react";
import { Button } from "../../../ui/button.tsx";
import { saveFile } from "../../../ui/save-file.ts";
import { type FileContent, type FileKind, sizeOf } from "./file-content.ts";

/** A picture with more would take the memory of the page. */
const MOST_PIXELS = 40_000_000;

/**
 * A file that an argument holds. Pictures are drawn from their pixels: no address is loaded, and nothing in them runs. Other
 * files are not opened here; a person can save them.
 */
export function FileView({ name, file }: { readonly name: string; readonly file: FileContent }): ReactNode {
  const { bytes, kind } = file;
  return (
    <div className="file">
      {kind.of !== "image" ? null : kind.width * kind.height > MOST_PIXELS ? (
        <p className="muted">The picture is too large to be shown.</p>
      ) : (
        <Picture bytes={bytes} kind={kind} />
      )}
      <p className="file-facts">
        <span className="small muted">
          {kindName(kind)}, {sizeOf(bytes.length)}
        </span>
        <Button small onClick={() => saveFile(`${fileName(name)}.${endingOf(kind)}`, SAVED_TYPE, bytes)}>
          Save the file
        </Button>
      </p>
    </div>
  );
}

/** Saved, not shown: whatever it is, no browser renders it. */
const SAVED_TYPE = "application/octet-stream";

interface PictureProps {
  readonly bytes: FileContent["bytes"];
  readonly kind: FileKind & { readonly of: "image" };
}

function Picture({ bytes, kind: { type, width, height } }: PictureProps): ReactNode {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [isBroken, setBroken] = useState(false);
  useEffect(() => {
    let isCurrent = true;
    createImageBitmap(new Blob([bytes], { type })).then(
      (picture) => {
        const { current } = canvas;
        if (!isCurrent || current === null) return;
        // A photograph may be stored lying on its side.
        [current.width, current.height] = [picture.width, picture.height];
        current.getContext("2d")?.drawImage(picture, 0, 0);
        picture.close();
      },
      () => isCurrent && setBroken(true),
    );
    return () => {
      isCurrent = false;
    };
  }, [bytes, type]);
  if (isBroken) return <p className="notice notice-warn">The picture is damaged and cannot be shown.</p>;
  return (
    <canvas
      ref={canvas}
      className="picture"
      role="img"
      aria-label="The picture"
      width={width}
      height={height}
    />
  );
}

function kindName(kind: FileKind): string {
  switch (kind.of) {
    case "image":
      return `Picture, ${kind.width} × ${kind.height} pixels`;
    case "pdf":
      return "PDF document, not shown here";
    case "other":
      return "File of a kind that is not shown";
  }
}

const ENDINGS = { "image/png": "png", "image/jpeg": "jpg", "image/gif": "gif" } as const;

function endingOf(kind: FileKind): string {
  if (kind.of === "image") return ENDINGS[kind.type];
  return kind.of === "pdf" ? "pdf" : "bin";
}

/** The argument's name, as far as it can be a file's. */
function fileName(name: string): string {
  return name.replace(/[^\w-]+/g, "-").slice(0, 60) || "file";
}
