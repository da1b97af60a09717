import { loadProtocol } from '../../protocols/index.ts'
import {
  DecodeError,
  decodeFrame,
  type HttpRequest,
  type Message,
  noSettings,
  type Protocol,
} from '../../protocols/kit/index.ts'
import type { KeptFrameJson } from '../admin/schemas/kept-frames.ts'
import { sameId } from '../domain/ids.ts'
import { shownBytes } from '../store/misunderstood-frame.ts'
import { type KnownPlace, repairChecksum, standInFor, withoutId, withoutPlaces } from './anonymous.ts'

/** One line of a case: what `decode --jsonl` reads, and why the frame was not read. */
interface CaseLine {
  readonly id: string
  readonly protocol: string
  readonly transport: string
  readonly session: string
  readonly deviceId: string
  readonly input: Readonly<Record<string, unknown>>
  readonly reason?: string
  readonly error?: string
  /** `wrong`: it could not be made to fit again. */
  readonly checksum?: 'wrong'
}

/** A kept frame, after the frames that began its conversation, with other ids and places. */
interface Case {
  readonly lines: readonly CaseLine[]
  /**
   * Whether a place was recognised, nothing left looks like a place, and the decoder reads neither the old id nor an old
   * place.
   */
  readonly isReplaced: boolean
}

/** Makes a case of a kept frame of a device that was at these places. */
export async function anonymousCase(
  frame: KeptFrameJson,
  around: readonly KnownPlace[],
  number: number,
): Promise<Case> {
  const { device, protocol, transport, reason, error, method, uri = '/', content } = frame
  const known: SentBy = {
    ids: [device, ...(content?.others ?? [])],
    places: [...around, ...(content?.places ?? [])],
    protocol: await loadProtocol(protocol),
  }
  const opening = (content?.opening ?? []).map((bytes) => cleaned(Buffer.from(bytes, 'base64'), known))
  const body = cleaned(Buffer.from(content?.body ?? '', 'base64'), known)
  const address = cleaned(Buffer.from(uri), known)
  const headers = content?.content_type === undefined ? {} : { 'content-type': content.content_type }
  const request = { method: method ?? 'POST', uri: address.bytes.toString(), headers, body: body.bytes }
  const whole = method === undefined ? [...opening, body] : [address, body]
  const frames = [...opening.map(({ bytes }) => bytes), method === undefined ? body.bytes : request]
  const id = `${protocol}-${number}`
  const about = { protocol, transport, session: id, deviceId: standInFor(sameId(device)) }
  const input =
    method === undefined
      ? shownBytes(body.bytes, body.bytes.length)
      : { http: method, uri: request.uri, headers, bodyHex: body.bytes.toString('hex') }
  return {
    lines: [
      ...opening.map(({ bytes }, index) => ({
        id: `${id}-opening-${index + 1}`,
        ...about,
        input: shownBytes(bytes, bytes.length),
      })),
      {
        id,
        ...about,
        input,
        reason,
        error: error === undefined ? undefined : cleaned(Buffer.from(error), known).bytes.toString(),
        checksum: body.checksum,
      },
    ],
    isReplaced:
      whole.some(({ isFound }) => isFound) && !whole.some(({ isDoubtful }) => isDoubtful) && !stillSays(frames, known),
  }
}

/** Facts about the sender of a frame. */
interface SentBy {
  readonly ids: readonly string[]
  readonly places: readonly KnownPlace[]
  readonly protocol: Protocol | undefined
}

interface Cleaned {
  readonly bytes: Buffer
  readonly isFound: boolean
  readonly isDoubtful: boolean
  readonly checksum?: 'wrong'
}

function cleaned(frame: Buffer, { ids, places, protocol }: SentBy): Cleaned {
  const { bytes, ...found } = withoutPlaces(ids.reduce(withoutId, frame), places)
  const { integrity } = protocol ?? {}
  const isChecked = protocol && integrity && !('none' in integrity) && !isDamaged(read(protocol, frame))
  if (!isChecked || !isDamaged(read(protocol, bytes))) return { bytes, ...found }
  const repaired = Buffer.from(bytes)
  const isRight = repairChecksum(repaired, frame, integrity.covers) && !isDamaged(read(protocol, repaired))
  return isRight ? { bytes: repaired, ...found } : { bytes, ...found, checksum: 'wrong' }
}

/** Decodes a frame or request, alone or in a session. */
function read(protocol: Protocol, frame: Buffer | HttpRequest, session = newSession()): Message | DecodeError {
  try {
    return decodeFrame(protocol, frame, session)
  } catch (error) {
    return error instanceof DecodeError ? error : new DecodeError('malformed')
  }
}

function newSession() {
  return { settingsOf: noSettings, transport: 'tcp' as const, now: Date.now(), lenient: false }
}

function isDamaged(reading: Message | DecodeError): boolean {
  return reading instanceof DecodeError && reading.code === 'checksum'
}

/** Returns whether the frames of a conversation still have the old id, an old place, or a driver. */
function stillSays(frames: readonly (Buffer | HttpRequest)[], { ids, places, protocol }: SentBy): boolean {
  if (!protocol) return false
  const session = Object.assign(newSession(), { lenient: true })
  const named = new Set(ids.map(sameId))
  return frames.some((frame) => {
    const reading = read(protocol, frame, session)
    const message: Message = reading instanceof DecodeError ? (reading.envelope ?? {}) : reading
    const { device, fixes = [], said } = message
    const isNamed = [device, ...fixes.map((fix) => fix.device)].some(
      (each) => each !== undefined && named.has(sameId(each)),
    )
    const isPlaced = fixes.some(({ latitude, longitude }) =>
      places.some(({ lat, lon }) => Math.hypot(latitude - lat, longitude - lon) < SAME_PLACE),
    )
    return isNamed || isPlaced || [said, ...fixes.map((fix) => fix.said)].some((each) => each?.driver !== undefined)
  })
}

/** Degrees. */
const SAME_PLACE = 0.1
