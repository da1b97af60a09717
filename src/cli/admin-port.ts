import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { sendable, tokenFile } from '../admin/access.ts'
import { httpUrl } from '../config/leaves.ts'
import { child, type Node, offsetOf, pathText, valueOf } from '../config/node.ts'
import { ConfigError, type Mistake, problemsIn } from '../config/problem.ts'
import { type Config, configSchema } from '../config/schema.ts'
import { parseYaml, withoutEchoes } from '../config/yaml.ts'
import { UserError } from '../errors.ts'
import { readPorts } from '../process/listener-ports.ts'
import { defaultConfigDir } from './config-dir.ts'

/** Options that name the admin port. */
export interface AdminPortOptions {
  readonly config?: string
  readonly url?: string
  readonly token?: string
}

export interface AdminPort {
  /** The URL without a slash at its end. */
  readonly url: string
  readonly token: string
  /** The certificate of this configuration's port, PEM: only this one is accepted, whatever its name. */
  readonly certificate?: string
  /** Where the token comes from, for messages: `--token`, `the file .data/admin-token`. */
  readonly tokenPlace: string
}

/**
 * Finds the admin port: by options, else by environment, else by the configuration. If a URL is given, the configuration is
 * read only if `--config` names it, because the token of this machine must not be sent to another one. @throws UserError,
 * ConfigError
 */
export async function findAdminPort(options: AdminPortOptions): Promise<AdminPort> {
  const url = given('--url', options.url) ?? given('WAYBRIDGE_ADMIN_URL', process.env.WAYBRIDGE_ADMIN_URL)
  const token = given('--token', options.token) ?? given('WAYBRIDGE_ADMIN_TOKEN', process.env.WAYBRIDGE_ADMIN_TOKEN)
  const dir = options.config ?? (url ? undefined : defaultConfigDir())
  const settings = dir === undefined ? undefined : await readSettings(dir, { withTokens: !token })
  const { value, place } = token ?? (await configuredToken(settings))
  return {
    ...(url ? { url: checkedUrl(url) } : await configuredPort(settings!)),
    token: sendable(value, place),
    tokenPlace: place,
  }
}

/** A text and its origin. */
type Given = Readonly<Record<'place' | 'value', string>>

function given(place: string, value: string | undefined): Given | undefined {
  const trimmed = value?.trim()
  return trimmed ? { place, value: trimmed } : undefined
}

function checkedUrl({ place, value }: Given): string {
  const url = httpUrl.safeParse(value)
  if (url.success) return url.data
  throw new UserError(`${place}: ${url.error.issues[0].message}, such as http://127.0.0.1:8080.`)
}

/** The settings of gateway.yaml that lead to the admin port. */
interface PortSettings extends Pick<Config, 'admin' | 'data_dir'> {
  /** The path of gateway.yaml. */
  readonly file: string
}

/** Returns one of several configured tokens: one for all companies with the role `operate`. */
async function configuredToken(settings: PortSettings | undefined): Promise<Given> {
  if (!settings) throw new UserError(`Give ${TOKEN}.`)
  const tokens = settings.admin.tokens.filter(({ expires = Infinity }) => expires > Date.now())
  const weight = ({ companies, role }: (typeof tokens)[number]) => (companies ? 2 : 0) + (role === 'operate' ? 0 : 1)
  const [token] = tokens.toSorted((one, other) => weight(one) - weight(other))
  if (token) return { place: `admin.tokens of ${settings.file}`, value: token.token }
  const file = tokenFile(settings.data_dir)
  const kept = (await readFile(file, 'utf8').catch(ifMissing))?.trim()
  if (kept) return { place: `the file ${file}`, value: kept }
  throw new UserError(`There is no ${file}: start waybridge, which creates it, or give ${TOKEN}.`)
}

/** Returns the port that `start` has written to a file, else the configured one. */
async function configuredPort({ admin, data_dir }: PortSettings): Promise<Pick<AdminPort, 'url' | 'certificate'>> {
  const ports = await readPorts(data_dir)
  const port = ports ? ports.admin : admin.port
  const address = `${connectableHost(admin.host)}:${port}`
  if (port && !admin.tls) return { url: `http://${address}` }
  if (port && admin.tls) return { url: `https://${address}`, certificate: await readFile(admin.tls.cert, 'utf8') }
  throw new UserError(
    `There is no ${join(data_dir, 'ports.json')} with the admin port: start waybridge, or give the address with --url.`,
  )
}

/** The host to connect to for a host that is listened on; IPv6 in brackets. */
function connectableHost(host: string): string {
  if (host === '0.0.0.0' || host === '*') return '127.0.0.1'
  if (host === '::') return '[::1]'
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host
}

/**
 * Reads only `admin` and `data_dir` of the gateway.yaml in a folder; a missing file means defaults. The remaining settings
 * are not checked, since the user of a command may lack the gateway's environment variables and secrets. @throws UserError if
 * there is no such folder, ConfigError with the mistakes in these settings
 */
async function readSettings(dir: string, { withTokens }: { readonly withTokens: boolean }): Promise<PortSettings> {
  if (!(await stat(dir).catch(() => undefined))?.isDirectory()) throw new UserError(`${dir}: ${NO_FOLDER}.`)
  const file = join(dir, 'gateway.yaml')
  const source = { name: 'gateway.yaml', file, text: (await readFile(file, 'utf8').catch(ifMissing)) ?? '' }
  const { root, mistakes } = parseYaml(source.text)
  if (!root && mistakes.length > 0) throw new ConfigError(problemsIn(source, mistakes))
  const parsed = configSchema(null, dir).safeParse(settingsIn(root, withTokens))
  const wrong = (parsed.error?.issues ?? []).map(({ path, message }) => {
    return { at: root ? offsetOf(root, path) : 0, key: pathText(path), message }
  })
  const isRead = ({ key = '' }: Mistake) =>
    SECTIONS.test(key) && !SIGN_IN.test(key) && (withTokens || !TOKENS.test(key))
  const found = withoutEchoes(mistakes.filter(isRead), wrong)
  if (found.length > 0 || !parsed.data) throw new ConfigError(problemsIn(source, found))
  return { ...parsed.data, file }
}

function settingsIn(root: Node | undefined, withTokens: boolean): object {
  const [admin, data_dir] = ['admin', 'data_dir'].map((key) => {
    const node = child(root, key)
    return node && valueOf(node, ({ text }) => text)
  })
  const needless = admin as { oidc?: unknown; tokens?: unknown } | null | undefined
  delete needless?.oidc
  if (!withTokens) delete needless?.tokens
  return { admin, data_dir }
}

function ifMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}

const TOKEN = 'the token of the admin port with --token or WAYBRIDGE_ADMIN_TOKEN'
const SECTIONS = /^(?:admin|data_dir)\b/
const TOKENS = /^admin\.tokens\b/
/** How people sign in to the page. */
const SIGN_IN = /^admin\.oidc\b/
const NO_FOLDER = 'there is no such folder; give --config, or --url and --token of the admin port'
