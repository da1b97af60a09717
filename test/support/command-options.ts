import { type ParseArgsOptionsConfig, parseArgs } from 'node:util'

/**
 * The options of a test command, as `parseArgs` reads them. A wrong one ends the process with exit code 2, after one line that
 * names those that there are; so does `--help`.
 */
export function commandOptions<const Options extends ParseArgsOptionsConfig>(options: Options) {
  try {
    return parseArgs({ options }).values
  } catch (error) {
    const [what] = (error as Error).message.split(/\.\s|\n/, 1)
    const known = Object.entries(options).map(([name, { type }]) => (type === 'boolean' ? `--${name}` : `--${name} …`))
    console.error(`${what.replace(/\.$/, '')}. There are ${known.join(', ')}.`)
    return process.exit(2)
  }
}
