import type { DeviceJson } from '../admin/schemas/devices.ts'
import type { KeptFrameJson } from '../admin/schemas/kept-frames.ts'
import { clockIn } from '../domain/times.ts'
import { type AdminPort, type AdminPortOptions, findAdminPort } from './admin-port.ts'
import { anonymousCase } from './anonymous-case.ts'
import { ask, jsonOf, listAll, readStatus } from './client.ts'
import { countText, printExact, printLines, table } from './output.ts'

interface MisunderstoodOptions extends AdminPortOptions {
  readonly device?: string
  readonly json?: boolean
  readonly all?: boolean
}

/** `waybridge misunderstood list`: the frames that are kept because they were not read, by protocol and reason. @returns the exit code @throws UserError */
export async function listMisunderstoodCommand({ device, json, ...options }: MisunderstoodOptions): Promise<number> {
  const admin = await findAdminPort(options)
  const frames = await listAll<KeptFrameJson>(admin, '/admin/misunderstood', device === undefined ? {} : { device })
  if (json) printExact([JSON.stringify({ results: frames })])
  else if (frames.length === 0) printLines(['No such frame is kept.'])
  else {
    const clock = clockIn((await readStatus(admin)).status.time_zone, Date.now())
    const families = Map.groupBy(frames, ({ protocol, reason, error = '' }) => `${protocol}\n${reason}\n${error}`)
    const rows = Array.from(families.values(), (each) => {
      const [{ protocol, reason, error, at, text, hex = '' }] = each
      const devices = new Set(each.map((frame) => frame.device)).size
      const why = REASONS[reason] ?? reason
      const cells = [
        protocol,
        String(each.length),
        String(devices),
        clock(at),
        error === undefined ? why : `${why}: ${error}`,
      ]
      return [...cells, (text?.trim() ?? hex).slice(0, SHOWN)]
    })
    printLines(
      table(
        HEAD,
        rows.toSorted((one, other) => Number(other[1]) - Number(one[1])),
      ),
    )
  }
  return 0
}

const HEAD = ['protocol', 'frames', 'devices', 'latest', 'why it was not read', 'begins']
const SHOWN = 48

const REASONS: Readonly<Record<string, string>> = {
  not_read: 'its position could not be read',
  entries: 'a part of it could not be read',
  unknown_type: 'its type is not known',
  guessed: 'its protocol is a guess',
}

/**
 * `waybridge misunderstood export`: prints the same frames as cases for the developer of the decoder, one line of JSON each,
 * in the form that `decode --jsonl` reads: with other ids and places, and corrected checksums. Skips frames in which no place
 * is recognised, or something left may be a place, unless `--all` is given. @returns the exit code @throws UserError
 */
export async function exportMisunderstoodCommand({ device, all, ...options }: MisunderstoodOptions): Promise<number> {
  const admin = await findAdminPort(options)
  const asked = { content: 'true', ...(device !== undefined && { device }) }
  const frames = await listAll<KeptFrameJson>(admin, '/admin/misunderstood', asked)
  const places = new Map<string, Awaited<ReturnType<typeof lastPlaces>>>()
  let left = 0
  for (const [index, frame] of frames.toReversed().entries()) {
    const known = places.get(frame.device) ?? (await lastPlaces(admin, frame.device))
    places.set(frame.device, known)
    const { lines, isReplaced } = await anonymousCase(frame, known, index + 1)
    if (all || isReplaced) printExact(lines.map((line) => JSON.stringify(line)))
    else left++
  }
  const what = frames.length === 0 ? 'No such frame is kept.' : NOTE
  process.stderr.write(`${what}\n`)
  if (left > 0)
    process.stderr.write(
      `${countText(left, 'frame is', 'frames are')} left out: nothing says that neither an id nor a place stands in them. --all prints them too: look at them first.\n`,
    )
  return 0
}

const NOTE =
  'Ids and places that were recognised are replaced. Names, telephone numbers, mobile cells and places far from the last one are not recognised: look at the lines before you send them.'

/** Resolves to the last place of a device; to none for an unknown device. */
async function lastPlaces(admin: AdminPort, id: string): Promise<{ lat: number; lon: number }[]> {
  const answer = await ask(admin, { path: `/admin/devices/${encodeURIComponent(id)}` })
  const { lat, lon } = (answer.status === 200 && (jsonOf(answer) as DeviceJson).last_fix) || {}
  return lat === undefined || lon === undefined ? [] : [{ lat, lon }]
}
