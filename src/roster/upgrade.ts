import { hash } from 'node:crypto'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { parseCsv } from '../config/csv.ts'
import type { Device } from '../config/devices.ts'
import { type Files, filesOf } from '../config/files.ts'
import type { RouteRow } from '../config/routes.ts'
import type { Config, Protocols } from '../config/schema.ts'
import { sameId } from '../config/units.ts'
import { keys, type Redis, writeRoster } from '../lanes/index.ts'
import { assignmentOf, contentsOf } from './file-content.ts'
import { versionNotes } from './file-notes.ts'
import type { Replica } from './replica.ts'
import { assignmentField, createDirectory } from './roster.ts'
import { deviceText, lineText, putText } from './table.ts'

/** A roster of the version before: puts and deletions beside the files, and when devices and lines of files were written. */
interface OldRoster {
  readonly devices: ReadonlyMap<string, { readonly at: number; readonly device: Device | null }>
  /** Oldest first. */
  readonly puts: readonly OldPut[]
  readonly marks: ReadonlyMap<string, number>
}

interface OldPut {
  readonly at: number
  readonly company_id: string
  readonly from: number
  readonly until: number
  readonly rows: readonly RouteRow[]
}

interface FilesOwner {
  readonly dir: string
  readonly config: Config
  readonly protocols: Protocols
  readonly installation: string
}

/**
 * Takes over the roster of the version before, once: what was in effect of files and puts becomes the roster, and the files
 * that were in effect (`accepted.json`) what files have written last. It knows the lines of this machine's files alone.
 */
export async function upgradeRoster(
  replica: Replica,
  onDisk: Files,
  { dir, config, protocols, installation }: FilesOwner,
): Promise<void> {
  const { redis } = replica
  const acceptedFile = join(config.data_dir, 'accepted.json')
  const accepted = await readFile(acceptedFile, 'utf8').then(
    (text) => new Map<string, string>(JSON.parse(text)),
    () => undefined,
  )
  const old = replica.version === 0 ? await readOld(redis) : undefined
  if (old && (accepted || old.devices.size + old.puts.length > 0)) {
    const files = accepted ? await filesOf(dir, accepted, { protocols, zone: config.time_zone }) : onDisk
    const notes = Array.from(await contentsOf(files), ([name, version]) =>
      versionNotes(name, { version, installation, asOf: 0 }),
    )
    await writeRoster(redis, { ...(await tableOf(files, old)), files: (await Promise.all(notes)).flat() }, 0)
    await redis.del((['at', 'devices', 'routes', 'files'] as const).map(keys.roster))
  }
  if (accepted) await rm(acceptedFile)
}

async function readOld(redis: Redis): Promise<OldRoster> {
  const read = async (part: 'devices' | 'routes' | 'files') =>
    Object.entries(await redis.hgetall(keys.roster(part))).map(([field, value]) => {
      const [, at, text] = /^(\d+) ?(.*)$/s.exec(value) ?? []
      return { field, at: Number(at), text }
    })
  const puts = (await read('routes')).map(({ field, text }) => ({ ...JSON.parse(text), at: Number.parseInt(field) }))
  return {
    devices: new Map((await read('devices')).map(({ field, at, text }) => [field, { at, device: JSON.parse(text) }])),
    puts: puts.toSorted((a, b) => a.at - b.at),
    marks: new Map((await read('files')).map(({ field, at }) => [field, at])),
  }
}

/** What was in effect: for a device and a time the last write. */
async function tableOf(files: Files, { devices: edits, puts, marks }: OldRoster) {
  const fleet = new Map<string, { device: Device; at?: number }>()
  for (const { device } of files.devices.flatMap(({ content }) => content.devices))
    fleet.set(sameId(device.id), { device })
  for (const [id, { at, device }] of edits) {
    if (at <= (marks.get(deviceKey(id, fleet.get(id)?.device)) ?? 0)) continue
    if (device) fleet.set(id, { device, at })
    else fleet.delete(id)
  }
  const devices = Array.from(fleet, ([id, { device, at }]) => {
    return [id, deviceText(at === undefined ? device : { ...device, source: undefined }, at)] as const
  })
  const roster = await createDirectory(
    Array.from(fleet.values(), ({ device }) => device),
    [],
  )
  const lastPut = (company: string | undefined, from: number) =>
    puts.findLast((put) => put.company_id === company && from >= put.from && from < put.until)?.at ?? 0
  const assignments = new Map<string, string>()
  for (const { source, content } of files.routes) {
    const writtenAt = marksOf(source.text, marks)
    for (const row of content.rows) {
      const at = writtenAt(row)
      if (at < lastPut(roster.meant(row.device)[0]?.company_id, row.from)) continue
      assignments.set(assignmentField(assignmentOf(row, '')), lineText(content.name, row.line, at))
    }
  }
  for (const { at, company_id, rows } of puts)
    for (const row of rows.filter(({ from }) => lastPut(company_id, from) === at))
      assignments.set(assignmentField(assignmentOf(row, '')), putText(company_id, row.line, at))
  return { devices, assignments: [...assignments] }
}

function deviceKey(id: string, device: Device | undefined): string {
  const says = { ...device, source: undefined, secret: undefined }
  return `device ${id} ${device ? hash('sha256', JSON.stringify(says), 'base64url') : 'gone'}`
}

/** Tells when rows of a file were written: their marks have the times in the words of the file. */
function marksOf(text: string, marks: OldRoster['marks']): (row: RouteRow) => number {
  const { columns = [], rows = [] } = parseCsv(text) ?? {}
  const cellsAt = new Map(Array.from(rows, ({ line, cells }) => [line, cells]))
  return ({ line, courier_id = '', route_id, device }) => {
    const cell = (name: string) => cellsAt.get(line)?.[columns.indexOf(name)] ?? ''
    const when = `${cell('from')}/${cell('until')}/${cell('date')}`
    return marks.get(`line ${when}/${courier_id}/${route_id}/${sameId(device)}`) ?? 0
  }
}
