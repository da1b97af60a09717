/** Ends the process once everything that it printed is written; a slow pipe takes a while. */
export function exit(code: number): Promise<never> {
  const { stdout } = process
  return new Promise(() => {
    stdout.write('', () => {
      if (stdout.errored) endUnlessPipeClosed(stdout.errored)
      process.exit(code)
    })
  })
}

/** A closed pipe (`… | head`) is not a fault. */
export function endUnlessPipeClosed({ code }: NodeJS.ErrnoException): void {
  if (code === 'EPIPE') return
  process.stderr.write(`The output cannot be written: ${code === 'ENOSPC' ? 'the disk is full' : code}.\n`)
  process.exit(1)
}
