import { hash, randomBytes, timingSafeEqual } from 'node:crypto'

/** A device's secret as it may be stored: salt and SHA-256 of both, which says nothing of a secret that is hard to guess. */
export function secretDigest(secret: string): string {
  const salt = randomBytes(16).toString('base64url')
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
