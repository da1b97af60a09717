import { getGlobalDispatcher } from 'undici'
import type * as z from 'zod'
import { nearest } from '../config/problem.ts'
import { UserError } from '../errors.ts'
import { printableUrl } from '../tracking/masking.ts'
import type { ErrorBody } from '../tracking/schemas.ts'
import type { AdminPort } from './admin-port.ts'
import { DeviceAnswer, DevicesPage, type ListedDevice, NoDevice, StatusAnswer } from './answers.ts'
import { printable } from './output.ts'

interface AdminRequest {
  readonly method?: 'GET' | 'PUT'
  /** From the port's root. It is sent unchanged; `new URL` would resolve a `..` in it. */
  readonly path: string
  readonly query?: Readonly<Record<string, string>>
  /** CSV. */
  readonly body?: Buffer
  /** For the whole answer. */
  readonly timeoutMs?: number
}

/** What the admin port answered. */
export interface AdminAnswer {
  readonly status: number
  readonly text: string
}

/** Sends a request. @throws UserError where nothing answers, and where the token is unknown (401) or may only read (403) */
export async function ask(admin: AdminPort, request: AdminRequest): Promise<AdminAnswer> {
  const { path, timeoutMs = TIMEOUT_MS, ...rest } = request
  const { origin, pathname } = new URL(admin.url)
  const { status, text, challenge } = await getGlobalDispatcher()
    .request({
      method: 'GET',
      ...rest,
      origin,
      path: pathname.replace(/\/$/, '') + path,
      headers: { authorization: `Bearer ${admin.token}`, ...(rest.body && { 'content-type': 'text/csv' }) },
      signal: AbortSignal.timeout(timeoutMs),
      headersTimeout: 0,
      bodyTimeout: 0,
    })
    .then(async ({ statusCode, headers, body }) => {
      return { status: statusCode, text: await body.text(), challenge: headers['www-authenticate'] }
    })
    .catch((error: Error) => throwNoAnswer(admin, error, timeoutMs))
  // A 401 without this challenge comes from the tracking API behind the relay.
  if (status === 401 ? challenge === 'Bearer' : status === 403 && path.startsWith('/admin/'))
    throw new UserError(`${errorText({ status, text })} (the token came from ${admin.tokenPlace})`)
  return { status, text }
}

function throwNoAnswer({ url }: AdminPort, error: Error & { code?: string }, timeoutMs: number): never {
  const place = printableUrl(url).replace(/\/$/, '')
  if (error.name === 'TimeoutError') throw new UserError(`No answer from ${place} within ${timeoutMs / 1000} s.`)
  const why = error.code === 'ECONNREFUSED' ? '' : ` (${error.code ?? error.name})`
  throw new UserError(`Nothing answers at ${place}${why}: start waybridge, or give the address with --url.`)
}

/** The JSON of an answer with status 200. @throws UserError for any other status, with the message of the admin port */
export function jsonOf<Shape>(admin: AdminPort, answer: AdminAnswer, shape: z.ZodType<Shape>): Shape {
  if (answer.status !== 200) throw new UserError(errorText(answer))
  return bodyOf(admin, answer, shape)
}

/** The JSON of an answer with any status. @throws UserError where it does not have this shape */
export function bodyOf<Shape>({ url }: AdminPort, { text }: AdminAnswer, shape: z.ZodType<Shape>): Shape {
  const body = shape.safeParse(parseJson(text))
  if (body.success) return body.data
  throw new UserError(`${printableUrl(url)} does not answer like the admin port of waybridge.`)
}

/** An error answer; empty where the text is none. */
export function errorOf({ text }: AdminAnswer): Partial<z.infer<typeof ErrorBody>> {
  return parseJson(text) ?? {}
}

/** The message of an error answer, in one line. */
export function errorText(answer: AdminAnswer): string {
  const { status, text } = answer
  const message = errorOf(answer).message ?? (text.trim() || 'no message')
  return printable(`The admin port answers ${status}: ${message}`).replace(/\s+/g, ' ').slice(0, MAX_TEXT)
}

/** `GET /admin/status`, unparsed. @throws UserError where another program answers */
export async function askStatus(admin: AdminPort): Promise<AdminAnswer> {
  const answer = await ask(admin, { path: '/admin/status' })
  if (answer.status !== 404) return answer
  throw new UserError(
    `${printableUrl(admin.url)} has no /admin/status (404): it is not the admin port (admin.port in gateway.yaml, 8080 by default).`,
  )
}

/**
 * The gateway's status. Commands take its time zone from here: a local time is always the gateway's, wherever the command
 * runs, because the gateway reads its files so. @throws UserError
 */
export async function gatewayStatus(admin: AdminPort): Promise<StatusAnswer> {
  return jsonOf(admin, await askStatus(admin), StatusAnswer)
}

/** All devices of `GET /admin/devices`, in its order. @throws UserError */
export async function listDevices(admin: AdminPort): Promise<ListedDevice[]> {
  const devices: ListedDevice[] = []
  let token: string | undefined
  do {
    const query = { max_results: '1000', ...(token && { page_token: token }) }
    const page: DevicesPage = jsonOf(admin, await ask(admin, { path: '/admin/devices', query }), DevicesPage)
    devices.push(...page.results)
    token = page.next_page_token
  } while (token !== undefined)
  return devices
}

/** The device with this id, or all devices with this name: two trackers of one van may share it. @throws UserError where there is none */
export async function findDevices(admin: AdminPort, idOrName: string): Promise<DeviceAnswer[]> {
  const device = await deviceWithId(admin, idOrName)
  if (device) return [device]
  const all = await listDevices(admin)
  const named = all.filter(({ name }) => name === idOrName)
  if (named.length === 0) {
    const names = all.flatMap(({ id, name = id }) => [name, id])
    const near = nearest(idOrName, names)
    const hint = near === undefined ? 'GET /admin/devices lists all devices' : `did you mean ${near}?`
    throw new UserError(printable(`No device has the id or name "${idOrName}": ${hint}`))
  }
  const found = await Promise.all(named.map(({ id }) => deviceWithId(admin, id)))
  return found.filter((each) => each !== undefined)
}

/** A device that was deleted while a file still has it is answered too: the user must learn of the deletion. */
async function deviceWithId(admin: AdminPort, id: string): Promise<DeviceAnswer | undefined> {
  const answer = await ask(admin, { path: `/admin/devices/${encodeURIComponent(id)}` })
  if (answer.status !== 404) return jsonOf(admin, answer, DeviceAnswer)
  const { file_entry } = bodyOf(admin, answer, NoDevice)
  return file_entry === undefined ? undefined : { id, configured: false, file_entry, held: [] }
}

/** The value of JSON text; undefined where it is not JSON. */
function parseJson(text: string): ReturnType<typeof JSON.parse> {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const TIMEOUT_MS = 30_000
const MAX_TEXT = 500
