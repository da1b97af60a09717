import { createInterface } from 'node:readline/promises'
import type { ReadStream, WriteStream } from 'node:tty'

/** A terminal that questions are asked on. */
interface Terminal {
  readonly input: Pick<ReadStream, 'isTTY'> & NodeJS.ReadableStream
  readonly output: Pick<WriteStream, 'isTTY'> & NodeJS.WritableStream
}

/** Whether the user at the terminal agrees to a change. Otherwise it says that nothing is changed; without a terminal also `why`. */
export async function confirmChange(question: string, why: string): Promise<boolean> {
  const isMeant = await confirm(question)
  if (isMeant === undefined) process.stderr.write(`Nothing is changed: ${why}.\n`)
  else if (!isMeant) process.stdout.write('Nothing is changed.\n')
  return isMeant === true
}

/** Whether the user at the terminal answers yes; undefined without a terminal: then nothing is asked. */
export async function confirm(
  question: string,
  { input, output }: Terminal = { input: process.stdin, output: process.stdout },
): Promise<boolean | undefined> {
  if (!input.isTTY || !output.isTTY) return undefined
  const asking = createInterface({ input, output })
  // Ctrl-D and Ctrl-C are a no.
  const closed = new Promise<string>((resolve) => asking.once('close', () => resolve('')))
  const answer = await Promise.race([asking.question(`${question} [y/N] `), closed])
  asking.close()
  return /^y(es)?$/i.test(answer.trim())
}
