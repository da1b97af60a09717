import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sendable, tokenFile } from '../admin/access.ts'
import { httpUrl } from '../config/leaves.ts'
import { UserError } from '../errors.ts'
import { readSettings, type Settings } from './settings.ts'

/** The options with which every one of these commands finds the admin port. */
export interface AdminPortOptions {
  readonly config?: string
  readonly url?: string
  readonly token?: string
}

/** An admin port, and how it is asked. */
export interface AdminPort {
  /** Without a slash at its end. */
  readonly url: string
  readonly token: string
  /** Where the token is from, as users may read it. */
  readonly tokenPlace: string
}

/**
 * Where the admin port is: as options and environment say, else as the configuration does. Where a URL is given, the
 * configuration is read only if it is named as well: a token of this machine is not for another one.
 * @throws UserError, ConfigError
 */
export async function findAdminPort(options: AdminPortOptions, env = process.env): Promise<AdminPort> {
  const url = given('--url', options.url) ?? given('WAYBRIDGE_ADMIN_URL', env.WAYBRIDGE_ADMIN_URL)
  const token = given('--token', options.token) ?? given('WAYBRIDGE_ADMIN_TOKEN', env.WAYBRIDGE_ADMIN_TOKEN)
  const named = options.config ?? (url ? undefined : 'config')
  const settings = named === undefined ? undefined : await readSettings(named, { tokens: !token })
  const { value, place } = token ?? (await configuredToken(settings))
  return {
    url: url ? checkedUrl(url) : await configuredUrl(settings!),
    token: sendable(value, place),
    tokenPlace: place,
  }
}

/** A text and where it is from. */
interface Given {
  readonly place: string
  readonly value: string
}

function given(place: string, value: string | undefined): Given | undefined {
  const trimmed = value?.trim()
  return trimmed ? { place, value: trimmed } : undefined
}

function checkedUrl({ place, value }: Given): string {
  const url = httpUrl().safeParse(value)
  if (url.success) return url.data
  throw new UserError(`${place}: ${url.error.issues[0].message}, such as http://127.0.0.1:8080.`)
}

/** Of tokens with a role, one that may do everything. */
async function configuredToken(settings: Settings | undefined): Promise<Given> {
  if (!settings) throw new UserError(`Give ${TOKEN}.`)
  const { tokens } = settings.admin
  const token = tokens.find(({ role }) => role === 'operate') ?? tokens[0]
  if (token) return { place: `admin.tokens of ${settings.file}`, value: token.token }
  const file = tokenFile(settings.data_dir)
  const kept = (await readFile(file, 'utf8').catch(ifMissing))?.trim()
  if (kept) return { place: `the file ${file}`, value: kept }
  throw new UserError(
    `There is no ${file}, which the first start makes: is waybridge started here? Else give ${TOKEN}.`,
  )
}

/** What `start` says is listening where, else what is configured. */
async function configuredUrl({ admin, data_dir }: Settings): Promise<string> {
  const file = join(data_dir, 'ports.json')
  const ports = await readFile(file, 'utf8').catch(ifMissing)
  const port = ports === undefined ? admin.port : (JSON.parse(ports) as { admin?: number }).admin
  if (port) return `http://${hostOf(admin.host)}:${port}`
  throw new UserError(`There is no ${file} that says where the admin port is: is waybridge started? Else give --url.`)
}

/** A host to connect to; IPv6 in brackets. */
function hostOf(host: string): string {
  if (host === '0.0.0.0' || host === '*') return '127.0.0.1'
  if (host === '::') return '[::1]'
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host
}

function ifMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}

const TOKEN = 'the token of the admin port with --token or WAYBRIDGE_ADMIN_TOKEN'
