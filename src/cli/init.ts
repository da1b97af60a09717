import { mkdir, stat, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { type ConfigKey, configKeysOf } from '../config/config-keys.ts'
import { DEVICE } from '../config/devices.ts'
import { ROUTE_COLUMNS } from '../config/routes.ts'
import { configSchema } from '../config/schema.ts'
import { UserError } from '../errors.ts'
import { SYSTEM_CONFIG } from './config-dir.ts'

/**
 * `waybridge init DIR`: writes a commented configuration; returns the exit code. The configuration of the machine names its
 * data folder, which commands then find from any folder. @throws UserError if it would overwrite a file.
 */
export async function initCommand(dir: string): Promise<number> {
  const { protocolPorts } = await import('../../protocols/index.ts')
  const dataDir = resolve(dir) === SYSTEM_CONFIG ? SYSTEM_DATA : undefined
  const files = configFiles(configKeysOf(configSchema(protocolPorts)), dataDir)
  const paths = Object.keys(files).map((name) => join(dir, name))
  for (const path of paths)
    if (await stat(path).catch(() => undefined))
      throw new UserError(`${path} exists, and init overwrites nothing: name another folder.`)
  await mkdir(dir, { recursive: true }).catch((error: Error) => {
    throw new UserError(`Cannot make the folder ${dir}: ${error.message}`)
  })
  for (const [name, text] of Object.entries(files)) await writeFile(join(dir, name), text, { flag: 'wx' })
  process.stdout.write(`Made ${paths.join(', ')}.\nAdd your company and trackers there, or try it as it is:\n\n`)
  process.stdout.write(`  waybridge check --config ${dir}\n  waybridge start --config ${dir}\n`)
  return 0
}

/**
 * Returns the text of each file by its name, for the keys of gateway.yaml. Each setting is a comment with its default, so
 * that the files are valid, set nothing except `dataDir`, and stay valid if a # is removed.
 */
export function configFiles(gateway: readonly ConfigKey[], dataDir?: string): Readonly<Record<string, string>> {
  const columns = Object.entries(ROUTE_COLUMNS)
  const settings = gateway.map((key) => setting(key, '')).join('\n')
  return {
    'gateway.yaml': `${comment(GATEWAY)}\n${dataDir ? settings.replace(/^#data_dir: .*/m, `data_dir: ${dataDir}`) : settings}`,
    'devices.yaml': `${comment([...DEVICES, ...meanings(configKeysOf(DEVICE))])}\n${DEVICE_EXAMPLES}`,
    'routes.csv': `${comment([...ROUTES, ...aligned(columns)])}device,courier_id,route_id,from,until\n${ROUTE_EXAMPLES}`,
  }
}

/** Returns a key below its comment. The name of a mapping is not commented out, unless it would then be null. */
function setting(key: ConfigKey, indent: string): string {
  const { name, inner, element, description, usual, isNullable } = key
  if (inner && usual !== 'null') {
    const head = `${comment(description ? [description] : [], indent)}${indent}${isNullable ? '#' : ''}${name}:\n`
    return head + inner.map((each) => setting(each, `${indent}  `)).join('')
  }
  const parts = inner ?? element ?? []
  const about = comment([description, ...meanings(parts)], indent)
  return `${about}${indent}#${name}: ${EXAMPLES[name] ?? usual ?? ''}`.trimEnd() + '\n'
}

/** Returns the meaning of each key, one a line. */
function meanings(keys: readonly ConfigKey[]): string[] {
  return aligned(
    keys.flatMap(({ name, inner, ...key }) => {
      const below = inner?.map((each) => [`  ${each.name}`, meaning(each)] as const) ?? []
      return [[name, meaning(key)] as const, ...below]
    }),
  )
}

function meaning({ description, usual, isRequired }: Pick<ConfigKey, 'description' | 'usual' | 'isRequired'>): string {
  const must = isRequired && !description.startsWith('Required') ? 'Required. ' : ''
  return `${must}${description}${usual === undefined ? '' : ` Default: ${usual}.`}`
}

function aligned(rows: readonly (readonly [name: string, meaning: string])[]): string[] {
  const width = Math.max(...rows.map(([name]) => name.length))
  return rows.map(([name, text]) => `  ${name.padEnd(width)}  ${text}`)
}

function comment(lines: readonly string[], indent = ''): string {
  return lines.map((line) => `${`${indent}# ${line}`.trimEnd()}\n`).join('')
}

/** As in the unit for systemd. */
const SYSTEM_DATA = '/var/lib/waybridge/.data'
/** Examples, in place of defaults that explain nothing. */
const EXAMPLES: Readonly<Record<string, string>> = {
  companies: '[{ company_id: 7, name: Example Deliveries, apikey: "${env:EXAMPLE_APIKEY}" }]',
}

const GATEWAY = [
  'Every setting of waybridge, with its default. To change one, remove the # in front of it, and of what it stands below.',
  '`waybridge check` lists the mistakes in these files. Durations are 500ms, 60s, 5m, 24h or 90d.',
  'Any value may be "${env:NAME}", "${env:NAME:-default}" or "${file:/path}", in quotes.',
  'A change of companies, copies, roster.pull, and tokens, oidc and log_reads of admin takes effect within a second;',
  'any other change at the next start.',
]

const DEVICES = [
  'The trackers. The key is the id that the tracker sends (mostly the IMEI), in quotes so that its zeros stay.',
  'A change takes effect within a second. Each has:',
]
const DEVICE_EXAMPLES = `\
#"356307042441013": { name: Van 12, company_id: 7, courier_id: 42, route_id: 1001 }
#"356307042441014": { name: Van 14, company_id: 7, courier_id: 43, time_zone: "+03:00", secret: "\${env:VAN_14}" }
`

const ROUTES = ['Who drives what, and when. A change takes effect within a second. The columns:']
const ROUTE_EXAMPLES = `\
#Van 12,42,1002,2026-11-20 06:00,2026-11-20 20:00
#356307042441014,,2001,2026-11-20T06:00:00Z,2026-11-20T14:00:00Z
`
