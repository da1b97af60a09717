import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { child, type Mapping, type Node, offsetOf, pathText, valueOf } from '../config/node.ts'
import { ConfigError, type Mistake, problemsIn, type Source } from '../config/problem.ts'
import { type Config, configSchema } from '../config/schema.ts'
import { parseYaml, withoutEchoes } from '../config/yaml.ts'
import { UserError } from '../errors.ts'

/** What of gateway.yaml leads to the admin port. */
export interface Settings extends Pick<Config, 'admin' | 'data_dir'> {
  /** The gateway.yaml. */
  readonly file: string
}

/**
 * These settings of the gateway.yaml in a folder, the usual ones where it has none. Whoever asks may lack the environment of
 * the gateway: what is wrong with other settings, and with tokens that are not wanted, does not matter here.
 * @throws UserError where there is no such folder, ConfigError with what is wrong
 */
export async function readSettings(dir: string, want: { readonly tokens: boolean }): Promise<Settings> {
  if (!(await stat(dir).catch(() => undefined))?.isDirectory()) throw new UserError(`${dir}: ${NO_FOLDER}.`)
  const file = join(dir, 'gateway.yaml')
  const text = await readFile(file, 'utf8').catch(ifMissing)
  return settingsOf({ name: 'gateway.yaml', file, text }, want)
}

function settingsOf(source: Source, { tokens }: { readonly tokens: boolean }): Settings {
  const { root, mistakes } = parseYaml(source.text)
  if (!root && mistakes.length > 0) throw new ConfigError(problemsIn(source, mistakes))
  const concerns = ({ key = '' }: Mistake) => SECTIONS.test(key) && (tokens || !TOKENS.test(key))
  const kept = withoutOthers(root, tokens)
  const parsed = configSchema(null).safeParse(valueOf(kept, ({ text }) => text))
  const issues = parsed.error?.issues ?? []
  const meaning = issues.map(({ path, message }) => ({ at: offsetOf(kept, path), key: pathText(path), message }))
  const found = withoutEchoes(mistakes.filter(concerns), meaning)
  if (found.length > 0 || !parsed.data) throw new ConfigError(problemsIn(source, found))
  return { ...parsed.data, file: source.file }
}

/** The settings that matter here, with or without the tokens. */
function withoutOthers(root: Node | undefined, tokens: boolean): Mapping {
  if (root?.kind !== 'mapping') return { kind: 'mapping', at: 0, entries: [] }
  const admin = child(root, 'admin')
  const entries = root.entries.filter(({ key }) => SECTIONS.test(key))
  if (tokens || admin?.kind !== 'mapping') return { ...root, entries }
  const rest = { ...admin, entries: admin.entries.filter(({ key }) => key !== 'tokens') }
  return { ...root, entries: entries.map((entry) => (entry.value === admin ? { ...entry, value: rest } : entry)) }
}

function ifMissing(error: NodeJS.ErrnoException): string {
  if (error.code === 'ENOENT') return ''
  throw error
}

const SECTIONS = /^(?:admin|data_dir)\b/
const TOKENS = /^admin\.tokens\b/
const NO_FOLDER = 'there is no such directory; give --config, or --url and --token of the admin port'
