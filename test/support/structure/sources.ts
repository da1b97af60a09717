import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('../../..', import.meta.url))

/** The source files below a folder of the repository, as paths from its root. */
export function filesBelow(folder: string, extensions = /\.(tsx?|mjs)$/): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && extensions.test(entry.name))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)))
    .toSorted()
}

/** What a file imports, types included, as written. */
export function specifiersOf(file: string): string[] {
  const pattern = /^(?:import|export)\s[^'"]*?from\s+'([^']+)'|^import\s+'([^']+)'|\bimport\('([^']+)'\)/gm
  return [...read(file).matchAll(pattern)].map(([, from, bare, dynamic]) => from ?? bare ?? dynamic)
}

/** The files of the repository that a file imports, types included. */
export function importsOf(file: string): string[] {
  let imports = importsOfFile.get(file)
  if (!imports) {
    imports = specifiersOf(file)
      .filter((specifier) => specifier.startsWith('.'))
      .map((specifier) => relative(ROOT, resolve(join(ROOT, dirname(file)), specifier)))
    importsOfFile.set(file, imports)
  }
  return imports
}

const importsOfFile = new Map<string, string[]>()

/** Groups of files that import each other, directly or through others of the group. */
export function importCircles(files: readonly string[]): string[][] {
  const reached = new Map(files.map((file) => [file, reachableFrom(file)]))
  const circles: string[][] = []
  for (const file of files) {
    if (!reached.get(file)?.has(file) || circles.some((circle) => circle.includes(file))) continue
    circles.push(files.filter((other) => reached.get(file)?.has(other) && reached.get(other)?.has(file)))
  }
  return circles
}

/** Every file that a file imports, directly or not. */
export function reachableFrom(file: string): Set<string> {
  const seen = new Set<string>()
  const visit = (from: string) => {
    for (const target of importsOf(from)) {
      if (seen.has(target) || !/\.(tsx?|mjs)$/.test(target)) continue
      seen.add(target)
      visit(target)
    }
  }
  visit(file)
  return seen
}

/** The names of interfaces, types and classes that more than one file declares, with these files. */
export function repeatedTypeNames(files: readonly string[]): Map<string, string[]> {
  const declaredIn = new Map<string, string[]>()
  for (const file of files)
    for (const name of typeNamesOf(file)) declaredIn.set(name, [...(declaredIn.get(name) ?? []), file])
  return new Map([...declaredIn].filter(([, places]) => places.length > 1))
}

/** The lines of files, together. */
export function linesOf(files: readonly string[]): number {
  return files.reduce((sum, file) => sum + read(file).trimEnd().split('\n').length, 0)
}

/** How often a pattern with the flag `g` matches in files, together. */
export function matchesIn(pattern: RegExp, files: readonly string[]): number {
  return files.reduce((sum, file) => sum + (read(file).match(pattern)?.length ?? 0), 0)
}

/** The files in which a pattern with the flag `g` matches. */
export function filesWith(pattern: RegExp, files: readonly string[]): string[] {
  return files.filter((file) => matchesIn(pattern, [file]) > 0)
}

function typeNamesOf(file: string): Set<string> {
  const pattern = /^(?:export )?(?:default )?(?:abstract )?(?:(?:interface|class) (\w+)|type (\w+)[^=,]*=)/gm
  return new Set([...read(file).matchAll(pattern)].map(([, shape, alias]) => shape ?? alias))
}

function read(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8')
}
