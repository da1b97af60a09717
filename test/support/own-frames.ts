import { isDeepStrictEqual } from 'node:util'
import {
  DecodeError,
  decodeFrame,
  type Fix,
  type HttpRequest,
  type Message,
  type Protocol,
  repliesOf,
  type Session,
  type Transport,
} from '../../protocols/kit/index.ts'
import type { Conversation, OwnFix, OwnFrame } from './protocol-cases.ts'
import { type Difference, differenceText } from './vectors/differences.ts'
import { ARRIVED } from './vectors/vectors.ts'

/** What in the messages of a conversation differs from what its frames say, one line each. */
export function conversationDifferences(protocol: Protocol, conversation: Conversation): string[] {
  const session = sessionOf(protocol, conversation)
  return conversation.frames.flatMap((own, index) =>
    frameDifferences(own, heard(protocol, frameOf(own), session)).map(
      (each) => `frames[${index}].${differenceText(each)}`,
    ),
  )
}

/** The session of a conversation that has just begun. */
export function sessionOf(protocol: Protocol, { settings = {}, transport }: Conversation): Session {
  return { settingsOf: () => settings, transport: transport ?? usualTransport(protocol), now: ARRIVED, lenient: false }
}

/** The wire that a protocol is mostly spoken over. */
export function usualTransport({ tcp, udp, http }: Protocol): Transport {
  return tcp ? 'tcp' : udp ? 'udp' : http ? 'http' : 'mqtt'
}

/** The frame as the decoder gets it. */
export function frameOf({ frame }: OwnFrame): Buffer | HttpRequest {
  return typeof frame === 'string' ? Buffer.from(frame) : frame
}

/** What a frame says in a session that goes on. */
export function heard(protocol: Protocol, frame: Buffer | HttpRequest, session: Session): Message | DecodeError {
  try {
    const message = decodeFrame(protocol, frame, session)
    session.device = message.device ?? session.device
    return message
  } catch (error) {
    if (error instanceof DecodeError) return error
    throw error
  }
}

function frameDifferences(own: OwnFrame, got: Message | DecodeError): Difference[] {
  if (got instanceof DecodeError) {
    if (own.error !== got.code) return [{ field: 'error', expected: own.error, got: `${got.code}: ${got.message}` }]
    return own.envelope ? envelopeDifferences(own.envelope, got.envelope) : []
  }
  const { frame: _, isTypical: __, envelope: ___, fixes, reply, refusal, error, ...rest } = own
  const { fixes: gotFixes, reply: gotReply, refusal: gotRefusal, ...gotRest } = got
  return [
    ...(error === undefined ? [] : [{ field: 'error', expected: error, got: undefined }]),
    ...fieldDifferences(rest, gotRest),
    ...fixesDifferences(fixes, gotFixes),
    ...bytesDifferences('reply', asBytes(reply), repliesOf(gotReply)),
    ...bytesDifferences('refusal', asBytes(refusal), repliesOf(gotRefusal)),
  ]
}

function envelopeDifferences(own: NonNullable<OwnFrame['envelope']>, got: Message = {}): Difference[] {
  return [
    ...fieldDifferences({ ...own, reply: undefined }, { ...got, reply: undefined }),
    ...bytesDifferences('envelope.reply', asBytes(own.reply), repliesOf(got.reply)),
  ]
}

function fixesDifferences(expected: readonly OwnFix[] | undefined, got: readonly Fix[] | undefined): Difference[] {
  if (expected?.length !== got?.length) return [{ field: 'fixes', expected: expected?.length, got: got?.length }]
  return (expected ?? []).flatMap(({ time, valid = true, ...fix }, index) => {
    const ms = typeof time === 'string' ? Date.parse(time) : time
    const wanted = { ...fix, valid, time: new Date(ms).toISOString() }
    const found = got?.[index] as Fix
    const differences = fieldDifferences(wanted, { ...found, time: new Date(found.time).toISOString() })
    return differences.map((each) => ({ ...each, field: `fixes[${index}].${each.field}` }))
  })
}

/** Of all keys of both objects; undefined is as good as absent. */
function fieldDifferences(expected: object, got: object): Difference[] {
  const wanted = new Map<string, unknown>(Object.entries(expected))
  const found = new Map<string, unknown>(Object.entries(got))
  const fields = [...new Set([...wanted.keys(), ...found.keys()])]
  return fields
    .map((field) => ({ field, expected: wanted.get(field), got: found.get(field) }))
    .filter((each) => !isSame(each.expected, each.got))
}

function isSame(expected: unknown, got: unknown): boolean {
  if (typeof expected === 'number' && typeof got === 'number') return Math.abs(expected - got) <= 1e-6
  return isDeepStrictEqual(expected, got)
}

function asBytes(reply: OwnFrame['reply']): Buffer[] {
  if (reply === undefined) return []
  return (Array.isArray(reply) ? reply : [reply]).map((each: string | Buffer) => Buffer.from(each))
}

function bytesDifferences(field: string, expected: readonly Buffer[], got: readonly Buffer[]): Difference[] {
  if (isDeepStrictEqual(expected.map(hex), got.map(hex))) return []
  const isText = expected.every((bytes) =>
    bytes.every((byte) => byte < 127 && (byte >= 32 || byte === 10 || byte === 13)),
  )
  const shown = (bytes: Buffer) => bytes.toString(isText ? 'latin1' : 'hex')
  return [{ field, expected: expected.map(shown), got: got.map(shown) }]
}

function hex(bytes: Buffer): string {
  return bytes.toString('hex')
}
