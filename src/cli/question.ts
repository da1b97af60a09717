import { createInterface } from 'node:readline/promises'
import type { ReadStream, WriteStream } from 'node:tty'

/** A terminal that questions are asked on. */
interface Terminal {
  readonly input: Pick<ReadStream, 'isTTY'> & NodeJS.ReadableStream
  readonly output: Pick<WriteStream, 'isTTY'> & NodeJS.WritableStream
}

/**
 * Asks the user at the terminal to agree to a change. Otherwise prints that nothing is changed; without a terminal also
 * `why`.
 */
export async function confirmChange(question: string, why: string): Promise<boolean> {
  const isMeant = await confirm(question)
  if (isMeant === undefined) process.stderr.write(`Nothing is changed: ${why}.\n`)
  else if (!isMeant) process.stdout.write('Nothing is changed.\n')
  return isMeant === true
}

/** Asks the user at the terminal for yes or no; resolves to undefined, without a question, if there is no terminal. */
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
