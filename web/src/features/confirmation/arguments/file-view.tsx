import { memo, type ReactNode, useEffect, useRef, useState } from "react";
import { Button } from "../../../ui/button.tsx";
import { saveFile } from "../../../ui/save-file.ts";
import { Words } from "../../../ui/words.tsx";
import { useFile } from "../card/seen.tsx";
import { type FileContent, type FileKind, type ShownFile, sizeOf } from "./file-content.ts";

export interface FileViewProps {
  readonly name: string;
  readonly file: ShownFile;
}

/**
 * A file that an argument holds. Pictures are drawn from their pixels: no address is loaded, and nothing in them runs. What
 * is not drawn counts as unseen until a person has saved it.
 */
export const FileView = memo(function FileView({ name, file }: FileViewProps): ReactNode {
  const { bytes, kind, claimed } = file;
  const [isDrawn, setDrawn] = useState(false);
  const [wasSaved, setSaved] = useState(false);
  useFile(isDrawn || wasSaved);
  const save = (): void => {
    saveFile(`${fileName(name)}.${endingOf(kind)}`, SAVED_TYPE, bytes);
    setSaved(true);
  };
  return (
    <div className="file">
      {kind.of !== "image" ? null : file.isDrawn ? (
        <Picture bytes={bytes} kind={kind} onDrawn={setDrawn} />
      ) : (
        <p className="muted">The picture is too large to be shown. The pictures above it count too.</p>
      )}
      <p className="file-facts">
        <span className="small muted">
          {kindName(kind)}, {sizeOf(bytes.length)}
          {claimed === undefined ? null : (
            <>
              , called <Words text={claimed} />
            </>
          )}
        </span>
        <Button small onClick={save}>
          Save the file
        </Button>
        {wasSaved ? <span className="small muted">Saved</span> : null}
      </p>
    </div>
  );
}, isSame);

/** The bytes are new each time that the arguments are read, also when nothing in them has changed. */
function isSame(old: FileViewProps, now: FileViewProps): boolean {
  const [one, other] = [old.file, now.file];
  const isSameFile = one.data === other.data && one.claimed === other.claimed;
  return isSameFile && old.name === now.name && one.isDrawn === other.isDrawn;
}

/** Saved, not shown: whatever it is, no browser renders it. */
const SAVED_TYPE = "application/octet-stream";

interface PictureProps {
  readonly bytes: FileContent["bytes"];
  readonly kind: FileKind & { readonly of: "image" };
  readonly onDrawn: (isDrawn: boolean) => void;
}

function Picture({ bytes, kind: { type, width, height }, onDrawn }: PictureProps): ReactNode {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [isBroken, setBroken] = useState(false);
  useEffect(() => {
    let isCurrent = true;
    createImageBitmap(new Blob([bytes], { type })).then(
      (picture) => {
        // The limit was judged by the size that the file gives itself.
        const isAsSaid = picture.width * picture.height === width * height;
        if (isCurrent && isAsSaid) onDrawn(draw(picture, canvas.current));
        if (isCurrent && !isAsSaid) setBroken(true);
        picture.close();
      },
      () => isCurrent && setBroken(true),
    );
    return () => {
      isCurrent = false;
    };
  }, [bytes, type, width, height, onDrawn]);
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

function draw(picture: ImageBitmap, canvas: HTMLCanvasElement | null): boolean {
  const pen = canvas?.getContext("2d");
  if (canvas === null || !pen) return false;
  // A photograph may be stored lying on its side.
  [canvas.width, canvas.height] = [picture.width, picture.height];
  pen.drawImage(picture, 0, 0);
  return true;
}

function kindName(kind: FileKind): string {
  if (kind.of === "pdf") return "PDF document, not shown here";
  if (kind.of === "animation") return "Picture that may move, not shown here";
  return `Picture, ${kind.width} × ${kind.height} pixels`;
}

const ENDINGS = { "image/png": "png", "image/jpeg": "jpg", "image/gif": "gif" } as const;

function endingOf(kind: FileKind): string {
  return kind.of === "pdf" ? "pdf" : ENDINGS[kind.type];
}

/** The argument's name, as far as it can be a file's. */
function fileName(name: string): string {
  return name.replace(/[^\w-]+/g, "-").slice(0, 60) || "file";
}
