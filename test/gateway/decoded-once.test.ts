import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { loadProtocol, loadProtocols } from '../../protocols/index.ts'
import { DecodeError, type HttpRequest, type Protocol, repliesOf } from '../../protocols/kit/index.ts'
import type { Device } from '../../src/config/devices.ts'
import { Conversation } from '../../src/gateway/conversation.ts'
import { gateway, van } from '../support/ingest.ts'
import { knownFrames } from '../support/known-frames.ts'
import { frameOf, heard, sessionOf, usualTransport } from '../support/own-frames.ts'
import { casesOf, type Conversation as Speech } from '../support/protocol-cases.ts'
import { continued } from '../support/conversation.ts'
import { createDirectory } from '../support/roster.ts'
import { ARRIVED } from '../support/vectors/vectors.ts'

type Frame = Buffer | HttpRequest

/** The protocol, and how often its decoder was called. */
function counted(protocol: Protocol) {
  const calls = { count: 0 }
  const { decode, request } = protocol
  const counting: Protocol = {
    ...protocol,
    decode: decode && ((...frame) => (calls.count++, decode(...frame))),
    request: request && ((...frame) => (calls.count++, request(...frame))),
  }
  return { calls, counting }
}

/** Every id that frames name, as devices with a time zone and these settings. */
function devicesIn(protocol: Protocol, frames: readonly Frame[], session: ReturnType<typeof sessionOf>): Device[] {
  const own = session.settingsOf()
  const ids = frames.flatMap((frame) => {
    const message = heard(protocol, frame, session)
    return message instanceof DecodeError ? [] : [message.device, ...(message.fixes ?? []).map((fix) => fix.device)]
  })
  const known = new Set([...ids, session.device].filter((id) => id !== undefined))
  return [...known].map((id) => ({ ...van, id, time_zone: '+03:00', settings: own }))
}

/** What a gateway makes of a conversation. `isEdited`: the roster writes its devices anew before each frame. */
async function taken(protocol: Protocol, conversation: Speech, isEdited: boolean) {
  const frames = conversation.frames.map(frameOf)
  const devices = devicesIn(protocol, frames, sessionOf(protocol, conversation))
  const { counted: dropped, frames: kept, ingest, state, stored } = await gateway({ devices, hold: { unknown: true } })
  const { calls, counting } = counted(protocol)
  const transport = conversation.transport ?? usualTransport(protocol)
  const login = transport === 'mqtt' ? { device: devices[0]?.id } : undefined
  const session = new Conversation(transport, '127.0.0.1:1', login)
  const outcomes = []
  for (const frame of frames) {
    if (isEdited) {
      state.roster = await createDirectory(devices, [])
      state.version++
    }
    const { status, ...answer } = await ingest.take(frame, session, counting)
    outcomes.push({ status, reply: 'reply' in answer ? answer.reply : undefined })
  }
  const places = stored.flatMap(({ parts }) => parts.map(({ device, records }) => [device, records.toString('hex')]))
  const received = stored.reduce((sum, each) => sum + each.received, 0) + dropped.length
  return { outcomes, places, received, kept: kept.length, calls: calls.count, frames: frames.length }
}

/** Both gateways of a comparison have one clock. */
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: ARRIVED }))
afterEach(() => void vi.useRealTimers())

describe('frames of a device with a time zone', async () => {
  for (const protocol of await loadProtocols()) {
    const known = knownFrames(protocol, await casesOf(protocol.name))
    it(`decodes each known frame of ${protocol.name} once, though its device has a time zone`, async () => {
      for (const { frame, name, session } of known) {
        const { ingest } = await gateway({ devices: devicesIn(protocol, [frame], session()) })
        const { calls, counting } = counted(protocol)
        await ingest.take(frame, continued(session()), counting)
        expect(calls.count, name).toBe(1)
      }
    })
  }
})

describe('settings that decoders ask for', async () => {
  for (const protocol of await loadProtocols()) {
    const known = knownFrames(protocol, await casesOf(protocol.name))
    it(`the decoder of ${protocol.name} asks for the settings of the device of its message`, () => {
      for (const { frame, name, session: begun } of known) {
        const session = begun()
        const own = session.settingsOf()
        const asked: (string | undefined)[] = []
        session.settingsOf = (device = session.device) => (asked.push(device), own)
        const message = heard(protocol, frame, session)
        if (message instanceof DecodeError) continue
        for (const device of asked) expect(device, name).toBe(message.device ?? session.device)
      }
    })
  }
})

describe('conversations while the roster changes', async () => {
  for (const protocol of await loadProtocols()) {
    const { frames: conversations } = await casesOf(protocol.name)
    it(`reads a conversation of ${protocol.name} alike while the roster writes its device anew`, async () => {
      for (const conversation of conversations) {
        const edited = await taken(protocol, conversation, true)
        expect(edited, conversation.title).toEqual(await taken(protocol, conversation, false))
        expect(edited.calls, conversation.title).toBe(edited.frames)
      }
    })
  }
})

it.each(['at2000', 'jt808'])(
  'stores and answers every fix of %s once while the roster writes its device anew before each frame',
  async (name) => {
    const protocol = (await loadProtocol(name)) as Protocol
    for (const conversation of (await casesOf(name)).frames) {
      const { outcomes, received } = await taken(protocol, conversation, true)
      const good = conversation.frames.filter(({ error }) => error === undefined)
      expect(received, conversation.title).toBe(good.reduce((sum, { fixes = [] }) => sum + fixes.length, 0))
      // What cannot be read is answered by its envelope, since the checksum fits.
      const wanted = conversation.frames.flatMap<string | Buffer>(
        ({ reply = [], envelope }) => envelope?.reply ?? reply,
      )
      const answers = outcomes.flatMap(({ reply }) => repliesOf(reply))
      expect(answers, conversation.title).toEqual(wanted.map((reply) => Buffer.from(reply)))
    }
  },
)
