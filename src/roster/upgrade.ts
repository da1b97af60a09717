import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Device } from '../config/devices.ts'
import { type Files, filesOf } from '../config/files.ts'
import { type RouteRow, readRouteTable } from '../config/routes.ts'
import type { Config, Protocols } from '../config/schema.ts'
import { sameId } from '../domain/ids.ts'
import type { Interval } from '../domain/times.ts'
import { keys, type Redis } from '../store/index.ts'
import { assignmentField, PUT_SOURCE, putLine } from './assignment.ts'
import { contentsOf, differenceFromNothing, notesWith } from './file-version.ts'
import type { Replica } from './replica.ts'
import { Roster, type RosterChange } from './roster.ts'
import { writeRoster } from './table.ts'

/**
 * Takes over the roster of version 0.1.0, once: what was in effect of files and puts becomes the roster, and the files
 * that were in effect (`accepted.json`) count as the last version of each file. Only this machine's files are known.
 */
export async function upgradeRoster(
  { redis, version }: Replica,
  onDisk: Files,
  { dir, config, protocols, installation }: { dir: string; config: Config; protocols: Protocols; installation: string },
): Promise<void> {
  const acceptedFile = join(config.data_dir, 'accepted.json')
  const accepted = await readFile(acceptedFile, 'utf8').then(
    (text) => new Map<string, string>(JSON.parse(text)),
    () => undefined,
  )
  const old = version === 0 ? await readOld(redis, config.time_zone) : undefined
  if (old && (accepted || old.edits.length + old.puts.length > 0)) {
    const files = accepted ? await filesOf(dir, accepted, { protocols, zone: config.time_zone }) : onDisk
    const contents = await contentsOf(files)
    const noting = Array.from(contents, ([name, now]) =>
      notesWith({ name, notes: [] }, [now.hash, installation, 0, true], now),
    )
    const write = await withEdits(await differenceFromNothing(contents), old)
    await writeRoster(redis, { ...write, files: (await Promise.all(noting)).flat() }, 0)
    await redis.del((['at', 'devices', 'routes', 'files'] as const).map(keys.roster))
  }
  if (accepted) await rm(acceptedFile)
}

interface OldPut extends Interval {
  readonly company_id: string
  readonly rows: readonly RouteRow[]
}

/** The roster of version 0.1.0: puts and deletions, and when devices and lines of files were written. */
async function readOld(redis: Redis, zone: string) {
  const read = async (part: 'devices' | 'routes' | 'files') => {
    const writes = Object.entries(await redis.hgetall(keys.roster(part))).map(([field, value]) => {
      const [, at, text] = /^(\d+) ?(.*)$/s.exec(value) ?? []
      return { field, at: Number(at), text }
    })
    return writes.toSorted((a, b) => a.at - b.at)
  }
  const marks = await read('files')
  // The mark of a line has its cells.
  const rows = marks.map(({ field, at }) => ({ at, line: 0, cells: LINE.exec(field)?.slice(1) ?? [] }))
  const columns = ['from', 'until', 'date', 'courier_id', 'route_id', 'device']
  const lines = await readRouteTable({ at: 0, columns, rows: rows.filter(({ cells }) => cells.length > 0) }, '', zone)
  return {
    edits: await read('devices'),
    puts: (await read('routes')).map(({ at, text }) => ({ at, ...(JSON.parse(text) as OldPut) })),
    devicesAt: new Map(marks.map(({ field, at }) => [DEVICE.exec(field)?.[1] ?? '', at])),
    linesAt: new Map(lines.rows.map((row) => [assignmentField(row), row.at])),
  }
}

/** What was in effect: for a device and a time the last write. */
async function withEdits(
  ofFiles: Required<RosterChange>,
  { edits, puts, devicesAt, linesAt }: Awaited<ReturnType<typeof readOld>>,
): Promise<RosterChange> {
  const [devices, assignments] = [new Map(ofFiles.devices), new Map(ofFiles.assignments)]
  for (const { field, text } of edits.filter((edit) => edit.at > (devicesAt.get(edit.field) ?? 0))) {
    const device = JSON.parse(text) as Device | null
    devices.set(field, device ? { ...device, source: PUT_SOURCE } : undefined)
  }
  const roster = new Roster()
  await roster.applyInSlices({ devices: [...devices] })
  const lastPut = (company: string | undefined, from: number) =>
    puts.findLast((put) => put.company_id === company && from >= put.from && from < put.until)
  for (const [field, line] of ofFiles.assignments) {
    if (!line) continue
    const at = linesAt.get(assignmentField({ ...line, device: sameId(line.device) })) ?? 0
    const put = lastPut(roster.meant(line.device)[0]?.company_id, line.from)
    if (put && put.at > at) assignments.delete(field)
  }
  for (const put of puts)
    for (const row of put.rows.filter(({ from }) => lastPut(put.company_id, from) === put))
      assignments.set(...putLine({ ...row, courier_id: row.courier_id || '' }, { ...put, line: row.line }))
  return { devices: [...devices], assignments: [...assignments] }
}

const DEVICE = /^device (.*) \S+$/s
const LINE = /^line (.*?)\/(.*?)\/(.*?)\/(\d*)\/(\d*)\/(.*)$/s
