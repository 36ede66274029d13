/** Server-sent events taken apart, whatever the pieces in which they arrive. */

export interface Frame {
  id: string;
  event: string;
  data: string;
}

/** Takes text in pieces; gives the frames that are complete by then. */
export class FrameReader {
  private rest = "";

  /** The frames that this piece completes. */
  push(piece: string): Frame[] {
    this.rest += piece;
    const parts = this.rest.split(/\r?\n\r?\n/);
    this.rest = parts.pop() ?? "";
    return parts.map(parsed).filter((frame) => frame.data !== "" || frame.event !== "");
  }
}

function parsed(block: string): Frame {
  const frame: Frame = { id: "", event: "", data: "" };
  const lines: string[] = [];
  for (const line of block.split(/\r?\n/)) {
    const [, field = "", value = ""] = /^([^:]*):? ?(.*)$/s.exec(line) ?? [];
    if (field === "id") frame.id = value;
    else if (field === "event") frame.event = value;
    else if (field === "data") lines.push(value);
  }
  frame.data = lines.join("\n");
  return frame;
}
