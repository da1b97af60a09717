import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Returns whether the Node in node_modules is the one of package.json's `nodeIntegrity`. The integrity of the package `node`
 * in package-lock.json does not cover the program: npm downloads it in a package for this system, which the lock file does
 * not contain. npm notes the hash that it verified. A system that `nodeIntegrity` does not list is not verified. @param
 * {string} root the folder of package.json
 */
export function isPinnedNode(root) {
  const pinned = read(join(root, 'package.json')).nodeIntegrity ?? {}
  const installed = read(join(root, 'node_modules/node/node_modules/.package-lock.json')).packages ?? {}
  return Object.entries(installed).every(([path, { version, integrity }]) => {
    const wanted = pinned[`${path.replace('node_modules/', '')}@${version}`]
    return wanted === undefined ? !isKnown(path, pinned) : wanted === integrity
  })
}

/** Whether another version of the package is pinned. @param {string} path @param {Record<string, string>} pinned */
function isKnown(path, pinned) {
  return Object.keys(pinned).some((name) => name.startsWith(`${path.replace('node_modules/', '')}@`))
}

/** @param {string} path */
function read(path) {
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : {}
}
