import { describeFrame, type FrameDescription } from '../../src/gateway/frame-description.ts'
import { type FrameKind, FrameStore, frameId, type Store } from '../../src/store/index.ts'

/** Keeps a frame that was not understood, as a gateway does. */
export async function keepFrame(
  redis: Store,
  device: string,
  { kind = 'position', ...more }: Partial<FrameDescription> & { kind?: FrameKind } = {},
): Promise<void> {
  const content = Buffer.from('{"lat":')
  const about = { at: Date.now(), device, protocol: 'fix', transport: 'mqtt', reason: 'not_read' } as const
  const described = describeFrame({ ...about, company: '7', content, secrets: [], entry: undefined, ...more })
  const id = frameId(described.at, device)
  const how = { kind, isConfigured: described.company !== undefined, isProven: true, rosterVersion: 0 }
  await new FrameStore(redis, { misunderstoodBytes: 1e9 }).keep({ id, ...how, text: JSON.stringify(described) })
}
