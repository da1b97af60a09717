import { loadProtocol } from '../../protocols/index.ts'
import {
  DecodeError,
  decodeFrame,
  type Fix,
  type Message,
  noSettings,
  type Protocol,
} from '../../protocols/kit/index.ts'
import type { KeptFrameJson } from '../admin/schemas/kept-frames.ts'
import { shownBytes } from '../store/misunderstood-frame.ts'
import { type Place, repairChecksum, standInFor, withoutId, withoutPlaces } from './anonymous.ts'

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
  /** Whether places were found and replaced, and the decoder reads neither them nor the id any more. */
  readonly anonymous?: boolean
  /** `wrong`: it could not be made to fit again. */
  readonly checksum?: 'wrong'
}

/** A kept frame without the id of its device and without places, behind the frames that began its conversation. */
export async function anonymousCase(
  frame: KeptFrameJson,
  around: readonly Place[],
  number: number,
): Promise<readonly CaseLine[]> {
  const { device, protocol, transport, reason, error, method, uri = '/', content } = frame
  const known = await loadProtocol(protocol)
  const places = [...around, ...(content?.places ?? [])]
  const clean = (bytes: Buffer) => cleaned(bytes, { device, places, protocol: known })
  const cleanText = (text: string) => clean(Buffer.from(text)).bytes.toString()
  const id = `${protocol}-${number}`
  const about = { protocol, transport, session: id, deviceId: standInFor(device) }
  const opening = (content?.opening ?? []).map((bytes, index): CaseLine => {
    return { id: `${id}-opening-${index + 1}`, ...about, input: inputOf(clean(Buffer.from(bytes, 'base64')).bytes) }
  })
  const { bytes, isAnonymous, checksum } = clean(Buffer.from(content?.body ?? '', 'base64'))
  const cleanUri = clean(Buffer.from(uri))
  const headers = content?.content_type === undefined ? {} : { 'content-type': content.content_type }
  const request = { http: method, uri: cleanUri.bytes.toString(), headers, bodyHex: bytes.toString('hex') }
  return [
    ...opening,
    {
      id,
      ...about,
      input: method === undefined ? inputOf(bytes) : request,
      reason,
      error: error === undefined ? undefined : cleanText(error),
      anonymous: isAnonymous || cleanUri.isAnonymous,
      checksum,
    },
  ]
}

interface Known {
  readonly device: string
  readonly places: readonly Place[]
  readonly protocol: Protocol | undefined
}

interface Cleaned {
  readonly bytes: Buffer
  readonly isAnonymous: boolean
  readonly checksum?: 'wrong'
}

function cleaned(frame: Buffer, known: Known): Cleaned {
  const { device, places, protocol } = known
  const { bytes: changed, isFound } = withoutPlaces(withoutId(frame, device), places)
  if (!protocol) return { bytes: changed, isAnonymous: isFound }
  const { integrity } = protocol
  const isChecked = integrity && !('none' in integrity) && !isDamaged(read(protocol, frame))
  const repaired = Buffer.from(changed)
  const isRight = isChecked && repairChecksum(repaired, frame, integrity.covers) && !isDamaged(read(protocol, repaired))
  const bytes = isRight ? repaired : changed
  const reading = read(protocol, bytes)
  const checksum = isChecked && isDamaged(reading) ? 'wrong' : undefined
  return { bytes, isAnonymous: isFound && !stillSays(reading, known), checksum }
}

/** What a frame alone says. */
function read(protocol: Protocol, frame: Buffer): Message | DecodeError {
  try {
    return decodeFrame(protocol, frame, { settingsOf: noSettings, transport: 'tcp', now: Date.now(), lenient: false })
  } catch (error) {
    return error instanceof DecodeError ? error : new DecodeError('malformed')
  }
}

function isDamaged(reading: Message | DecodeError): boolean {
  return reading instanceof DecodeError && reading.code === 'checksum'
}

/** Whether a message has the id of the device, or one of its places. */
function stillSays(reading: Message | DecodeError, { device, places }: Known): boolean {
  const { device: named, fixes = [] } = (reading instanceof DecodeError ? reading.envelope : reading) ?? {}
  const isAt = (fix: Fix) =>
    places.some(({ lat, lon }) => Math.hypot(fix.latitude - lat, fix.longitude - lon) < SAME_PLACE)
  return named === device || fixes.some(isAt)
}

/** Degrees. */
const SAME_PLACE = 0.1

/** Bytes as `decode --jsonl` takes them. */
function inputOf(bytes: Buffer) {
  return shownBytes(bytes, bytes.length)
}
