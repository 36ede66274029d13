import { expect, test } from "vitest";
import { FrameReader, type Frame } from "./frames";

const STREAM = 'id: 1\r\nevent: state\r\ndata: {"seq":1}\r\n\r\n: kept alive\r\n\r\nevent: ping\ndata: {}\n\ndata: one\ndata: two\n\n';
const FRAMES: Frame[] = [
  { id: "1", event: "state", data: '{"seq":1}' },
  { id: "", event: "ping", data: "{}" },
  { id: "", event: "", data: "one\ntwo" },
];

test("a stream is taken apart into its frames, comments left out", () => {
  expect(new FrameReader().push(STREAM)).toEqual(FRAMES);
});

test("the frames are the same wherever the stream is cut", () => {
  for (let cut = 0; cut <= STREAM.length; cut += 1) {
    const reader = new FrameReader();
    expect([...reader.push(STREAM.slice(0, cut)), ...reader.push(STREAM.slice(cut))]).toEqual(FRAMES);
  }
});
