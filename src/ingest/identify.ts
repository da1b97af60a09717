import { hash, timingSafeEqual } from 'node:crypto'
import type { Message } from '../../protocols/kit/index.ts'
import type { DeviceEntry, Directory } from '../roster/directory.ts'
import { matchesDigest } from '../roster/secret.ts'
import type { DeviceSession } from './session.ts'

/** Why a message is not taken: nobody configured its device, the secret is wrong, or another device's id was used. */
export type IdentityRefusal = 'unknown_device' | 'wrong_secret' | 'other_device'

/**
 * Whose message this is: the device that it names, else the one that the session belongs to. Over MQTT the broker's login
 * and the topic have said so already, and a frame inside may not say otherwise.
 */
export function identify(
  message: Message,
  session: DeviceSession,
  directory: Directory,
): DeviceEntry | IdentityRefusal {
  const entry = directory.find(message.device ?? session.device ?? '')
  if (!entry) return 'unknown_device'
  if (session.transport === 'mqtt' && entry !== directory.find(session.device ?? '')) return 'other_device'
  if (!presents(entry, message.secret ?? session.secret)) return 'wrong_secret'
  return entry
}

/** Whether what was presented is the device's secret; a device without one presents nothing. Constant time. */
export function presents(entry: DeviceEntry, secret: string | undefined): boolean {
  if (entry.secret === undefined && entry.secretDigest === undefined) return true
  if (secret === undefined) return false
  if (entry.secretDigest !== undefined) return matchesDigest(entry.secretDigest, secret)
  return timingSafeEqual(digest(secret), digest(entry.secret ?? ''))
}

function digest(text: string): Buffer {
  return hash('sha256', text, 'buffer')
}
