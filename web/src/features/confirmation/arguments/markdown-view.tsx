import type { ReactNode } from "react";
import { Words } from "../../../ui/words.tsx";
import { type Block, type Inline, markdownBlocks } from "./markdown.ts";

/** A longer text is shown only as it is: laid out, it would be too many elements for a page. */
const LONGEST = 50_000;

/**
 * A text in Markdown, as it is and as it will look. The source is what was asked about, so it stands there whole; links
 * are not followed and images not loaded: both show where they lead.
 */
export function MarkdownView({ text }: { readonly text: string }): ReactNode {
  if (text.length > LONGEST) return <Words text={text} block />;
  return (
    <div className="markdown">
      <div className="markdown-source">
        <p className="small muted">Source</p>
        <Words text={text} block />
      </div>
      <div className="markdown-shown" role="group" aria-label="How it will look">
        <p className="small muted">How it will look</p>
        {markdownBlocks(text).map((block, index) => (
          <BlockView key={index} block={block} />
        ))}
      </div>
    </div>
  );
}

function BlockView({ block }: { readonly block: Block }): ReactNode {
  switch (block.of) {
    case "heading":
      // Not a heading of our page: it would stand between ours.
      return (
        <p className={`markdown-heading markdown-heading-${Math.min(block.level, 3)}`}>
          <Line pieces={block.line} />
        </p>
      );
    case "paragraph":
      return <p>{lined(block.lines)}</p>;
    case "quote":
      return <blockquote>{lined(block.lines)}</blockquote>;
    case "list": {
      const items = block.items.map((pieces, index) => (
        <li key={index}>
          <Line pieces={pieces} />
        </li>
      ));
      return block.isOrdered ? <ol>{items}</ol> : <ul>{items}</ul>;
    }
    case "code":
      return (
        <pre className="markdown-code">
          <Words text={block.text} block />
        </pre>
      );
    case "rule":
      return <hr />;
  }
}

function lined(lines: readonly (readonly Inline[])[]): ReactNode {
  return lines.map((pieces, index) => (
    <span key={index} className="markdown-line">
      <Line pieces={pieces} />
    </span>
  ));
}

function Line({ pieces }: { readonly pieces: readonly Inline[] }): ReactNode {
  return pieces.map((piece, index) => <Piece key={index} piece={piece} />);
}

function Piece({ piece }: { readonly piece: Inline }): ReactNode {
  const words = <Words text={piece.text} />;
  switch (piece.of) {
    case "text":
      return words;
    case "code":
      return <code>{words}</code>;
    case "strong":
      return <strong>{words}</strong>;
    case "emphasis":
      return <em>{words}</em>;
    case "link":
    case "image":
      return (
        <span className="markdown-link">
          {piece.of === "image" ? "[image] " : ""}
          {words} <code className="small">{<Words text={piece.address} maxLength={300} />}</code>
        </span>
      );
  }
}
