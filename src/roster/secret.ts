import { hash, timingSafeEqual } from 'node:crypto'
import { sameId } from '../config/units.ts'

/**
 * A device's secret as it may be stored: a salt, and the SHA-256 of both, which does not tell a secret that is hard to guess.
 * The salt is made of the device's id, so that a file that is read again does not change its devices.
 */
export function secretDigest(id: string, secret: string): string {
  const salt = hash('sha256', `waybridge ${sameId(id)}`, 'base64url').slice(0, 22)
  return `${salt}:${salted(salt, secret).toString('base64url')}`
}

/** Whether what was presented is the secret that a digest was made of. Constant time. */
export function matchesDigest(digest: string, presented: string): boolean {
  const [salt, expected] = digest.split(':')
  return timingSafeEqual(salted(salt, presented), Buffer.from(expected, 'base64url'))
}

function salted(salt: string, secret: string): Buffer {
  return hash('sha256', `${salt}:${secret}`, 'buffer')
}
