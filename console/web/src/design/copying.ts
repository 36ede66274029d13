/** Puts a text where it can be pasted. */

import { say } from "./toast";

/** Says `done`, or why it did not work: browsers copy on secure origins only. */
export async function copy(text: string, done: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    say(done);
  } catch {
    say("This browser copies only over HTTPS or from this machine. Open the console there, then copy again.");
  }
}
