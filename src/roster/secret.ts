import { hash, timingSafeEqual } from 'node:crypto'
import type { Device } from '../config/devices.ts'
import { sameId } from '../config/units.ts'

type SecretKeys = Pick<Device, 'secret' | 'previous_secret' | 'secretDigest' | 'previousSecretDigest'>

/** Whether a device must present a secret. */
export function hasSecret(device: SecretKeys): boolean {
  return (device.secret ?? device.previous_secret ?? device.secretDigest ?? device.previousSecretDigest) !== undefined
}

/** Whether this is the secret of a device that has one, or its previous one; each compared in constant time. */
export function isSecretOf(device: SecretKeys, presented: string): boolean {
  const digests = [device.secretDigest, device.previousSecretDigest].filter((digest) => digest !== undefined)
  if (digests.some((digest) => matchesDigest(digest, presented))) return true
  return [device.secret, device.previous_secret].some((secret) => secret !== undefined && isSame(secret, presented))
}

function isSame(secret: string, presented: string): boolean {
  return timingSafeEqual(hash('sha256', presented, 'buffer'), hash('sha256', secret, 'buffer'))
}

/**
 * A device's secret as it may be stored: a salt, and the SHA-256 of both, which does not tell a secret that is hard to guess.
 * The salt is made of the device's id, so that a file that is read again does not change its devices.
 */
export function secretDigest(id: string, secret: string): string {
  const salt = hash('sha256', `waybridge ${sameId(id)}`, 'base64url').slice(0, 22)
  return `${salt}:${salted(salt, secret).toString('base64url')}`
}

/** Whether what was presented is the secret that a digest was made of. Constant time. */
function matchesDigest(digest: string, presented: string): boolean {
  const [salt, expected] = digest.split(':')
  return timingSafeEqual(salted(salt, presented), Buffer.from(expected, 'base64url'))
}

function salted(salt: string, secret: string): Buffer {
  return hash('sha256', `${salt}:${secret}`, 'buffer')
}
