import { styleText } from 'node:util'

/** Colours a text, or leaves it as it is. */
export type Paint = (style: 'bold' | 'dim' | 'green' | 'yellow', text: string) => string

/** For the standard output: colours on a terminal only, and none where `NO_COLOR` is set. */
export const colours: Paint = (style, text) => styleText(style, text, { stream: process.stdout })

/** Prints lines, to their end: the process may exit then. That nobody reads on (`… | head`) is all right. */
export async function print(lines: readonly string[]): Promise<void> {
  const { stdout } = process
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const end = (error?: Error | null) => (error && !isClosedPipe(error) ? reject(error) : resolve())
  stdout.once('error', end)
  stdout.write(lines.map((line) => `${line}\n`).join(''), end)
  await promise
}

function isClosedPipe({ code }: NodeJS.ErrnoException): boolean {
  return code === 'EPIPE'
}
