import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Site } from '../rig/site.ts'
import { localTime } from './dst.ts'
import { type Edit, keyOf } from './edits.ts'
import type { System } from './system.ts'

/** Writes the lines of all changes by file into the files of every machine, by rename. */
export async function writeLines(edits: readonly Edit[], { machines }: Site): Promise<void> {
  const lines = csvOf(
    edits.filter(({ kind }) => kind === 'file'),
    localTime,
  )
  for (const { dir } of machines) {
    const file = join(dir, 'routes.csv')
    await writeFile(`${file}.new`, lines)
    await rename(`${file}.new`, file)
  }
}

/** Puts a line or an entry through the admin port. Rejects without answer. */
export async function put(edit: Edit, system: System): Promise<Response> {
  const { path, type, body } = edit.kind === 'put' ? lineOf(edit) : entryOf(edit)
  return system.admin(path, { method: 'PUT', headers: { 'content-type': type }, body })
}

/** Assigns a van to a route of the past, and has what was delivered otherwise delivered again. Rejects without answer. */
export async function assignPast({ device, lane, from, until = from }: Edit, system: System) {
  const [courier_id, route_id] = lane.split('/')
  const body = { courier_id, route_id, from_at: instant(from), until_at: instant(until) }
  const answer = await post(`/admin/devices/${device}/assign?redeliver=true`, body, system)
  const { redeliver } = (answer.ok ? await answer.json() : {}) as { redeliver?: unknown }
  return { answer, isPromised: redeliver !== undefined }
}

/**
 * Has what was delivered otherwise than a line of the past says delivered again. Returns how many fixes that is, with `isDry` without
 * doing so. Rejects without answer.
 */
export async function redeliverPast(
  { device, from, until = from }: Edit,
  system: System,
  isDry = false,
): Promise<number> {
  const body = { from_at: instant(from), until_at: instant(until) }
  const answer = await post(`/admin/devices/${device}/redeliver?dry_run=${isDry}`, body, system)
  if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`)
  const { redeliver } = (await answer.json()) as { redeliver?: { fixes: number } }
  return redeliver?.fixes ?? 0
}

function post(path: string, body: unknown, system: System): Promise<Response> {
  const headers = { 'content-type': 'application/json' }
  return system.admin(path, { method: 'POST', headers, body: JSON.stringify(body) })
}

/** The lines that the admin port shows, and the devices that were changed, by `keyOf`. Rejects without answer. */
export async function shownRoster(edits: readonly Edit[], system: System): Promise<ReadonlySet<string>> {
  const devices = new Set(edits.filter(({ kind }) => kind === 'device').map(({ device }) => device))
  const entries = await Promise.all(Array.from(devices, (device) => shownEntry(system, device)))
  return new Set([...(await shownLines(system)), ...entries])
}

function lineOf(edit: Edit) {
  const until = instant(edit.from + 1)
  return {
    path: `/admin/routes?company_id=1&from=${instant(edit.from)}&until=${until}`,
    type: 'text/csv',
    body: csvOf([edit], instant),
  }
}

function entryOf({ device, lane }: Edit) {
  const [courier_id, route_id] = lane.split('/').map(Number)
  return {
    path: `/admin/devices/${device}`,
    type: 'application/json',
    body: JSON.stringify({ company_id: 1, courier_id, route_id }),
  }
}

/** Lines that end after the run, with their times as `show` writes unix seconds. */
function csvOf(edits: readonly Edit[], show: (seconds: number) => string): string {
  const lines = edits.map(({ device, lane, from }) =>
    [device, ...lane.split('/'), show(from), show(from + LINE_S)].join(),
  )
  return ['device,courier_id,route_id,from,until', ...lines, ''].join('\n')
}

function instant(seconds: number): string {
  return new Date(seconds * 1000).toISOString()
}

interface ShownLine {
  readonly device: string
  readonly courier_id: string
  readonly route_id: string
  readonly from_at: string
}

async function shownLines(system: System): Promise<string[]> {
  const lines: ShownLine[] = []
  let page = ''
  do {
    const answer = await system.admin(
      `/admin/routes?max_results=1000${page && `&page_token=${encodeURIComponent(page)}`}`,
    )
    const { results, next_page_token } = (await answer.json()) as { results: ShownLine[]; next_page_token?: string }
    lines.push(...results)
    page = next_page_token ?? ''
  } while (page)
  return lines.map(({ device, courier_id, route_id, from_at }) =>
    keyOf({ device, lane: `${courier_id}/${route_id}`, from: Date.parse(from_at) / 1000 }),
  )
}

async function shownEntry(system: System, device: string): Promise<string> {
  const answer = await system.admin(`/admin/devices/${device}`)
  const { lane } = (await answer.json()) as { lane?: { courier_id: string; route_id: string } }
  return keyOf({ device, lane: `${lane?.courier_id}/${lane?.route_id}`, from: -Infinity })
}

const LINE_S = 86_400
