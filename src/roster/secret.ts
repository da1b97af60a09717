import { hash, timingSafeEqual } from 'node:crypto'
import type { Device } from '../config/devices.ts'
import { sameId } from '../config/units.ts'

/** A device as the roster stores it, with digests in place of its secrets. */
export function withoutSecret<Some extends Omit<Device, 'source'>>({ secret, previous_secret, ...device }: Some) {
  const { id } = device
  return {
    ...device,
    ...(secret !== undefined && { secretDigest: digestOf(id, secret) }),
    ...(previous_secret !== undefined && { previousSecretDigest: digestOf(id, previous_secret) }),
  }
}

/** Whether this is the secret of a device of the roster, or its previous one; each compared in constant time. */
export function isSecretOf(device: Pick<Device, 'secretDigest' | 'previousSecretDigest'>, presented: string): boolean {
  return [device.secretDigest, device.previousSecretDigest].some((digest) => {
    const [salt, expected] = digest?.split(':') ?? []
    return digest !== undefined && timingSafeEqual(salted(salt, presented), Buffer.from(expected, 'base64url'))
  })
}

/**
 * A salt, and the SHA-256 of salt and secret, from which a secret that is hard to guess cannot be found. The salt is
 * made of the device's id, so that a file that is read again does not change its devices.
 */
function digestOf(id: string, secret: string): string {
  const salt = hash('sha256', `waybridge ${sameId(id)}`, 'base64url').slice(0, 22)
  return `${salt}:${salted(salt, secret).toString('base64url')}`
}

function salted(salt: string, secret: string): Buffer {
  return hash('sha256', `${salt}:${secret}`, 'buffer')
}
