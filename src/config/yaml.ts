import { readFileSync } from 'node:fs'
import {
  type Alias,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  parseDocument,
  Scalar,
  type YAMLError,
  type YAMLMap,
} from 'yaml'
import { type Entry, type Leaf, type Node, type Path, pathText } from './node.ts'
import type { Mistake } from './problem.ts'

interface ParseOptions {
  /** Replaces the references in scalars. */
  readonly resolve?: (text: string) => Resolved
  /** Whether keys of the root may occur twice. */
  readonly mayRepeat?: boolean
}

/**
 * Parses a YAML document into nodes. @returns `root` is undefined if the document is empty or not YAML; `mistakes` then tells
 * why
 */
export function parseYaml(text: string, options: ParseOptions = {}): { root?: Node; mistakes: Mistake[] } {
  if (text.trim() === '') return { mistakes: [] }
  // The parser's own check for repeated keys takes quadratic time.
  const document = parseDocument(text, { uniqueKeys: false, prettyErrors: false })
  const faults = [...document.errors, ...document.warnings].slice(0, MAX_FAULTS)
  if (faults.length > 0) return { mistakes: faults.map((fault) => ({ at: fault.pos[0], message: faultText(fault) })) }
  const { contents } = document
  if (contents === null || (isScalar(contents) && contents.value === null)) return { mistakes: [] }
  const conversion = new Conversion(options)
  return { root: conversion.convert(contents, []), mistakes: conversion.mistakes }
}

/** The mistakes of both kinds; a value that could not be read has no further mistake about its meaning. */
export function withoutEchoes(reading: readonly Mistake[], meaning: readonly Mistake[]): Mistake[] {
  const unread = new Set(reading.map(({ key }) => key))
  return [...reading, ...meaning.filter(({ key }) => key === undefined || !unread.has(key))]
}

/**
 * Returns the text of a scalar: replaces `${env:NAME}`, `${env:NAME:-default}` and `${file:/path}`; any other text stays. An
 * empty variable counts as the default; line ends at the end of a file are dropped. @returns `mistake`: a sentence with the
 * name of the variable or file, never with its value
 */
export function resolveReference(text: string): Resolved {
  if (!text.includes('${')) return { text }
  const match = /^\$\{(env|file):([^}]*)\}$/.exec(text)
  if (!match) return /\$\{(env|file):/.test(text) ? { mistake: WHOLE_VALUE } : { text }
  return match[1] === 'env' ? fromEnvironment(match[2]) : fromFile(match[2])
}

type Resolved = { text: string } | { mistake: string }

function fromEnvironment(reference: string): Resolved {
  const [, name, fallback] = /^(.*?)(?::-(.*))?$/s.exec(reference) ?? []
  const value = process.env[name]
  if (fallback !== undefined) return { text: value || fallback }
  return value === undefined ? { mistake: `the environment variable ${name} is not set` } : { text: value }
}

function fromFile(path: string): Resolved {
  try {
    return { text: readFileSync(path, 'utf8').replace(/[\r\n]+$/, '') }
  } catch (error) {
    return { mistake: `the file ${path} cannot be read (${(error as NodeJS.ErrnoException).code})` }
  }
}

/** Returns the error of a text that is not YAML, without the quoted part, which may be a secret. */
function faultText({ code, message }: YAMLError): string {
  if (code === 'MULTIPLE_DOCS') return 'expected one document: remove the lines --- and ...'
  return /stack/i.test(message) ? 'nested too deeply' : `not valid YAML: ${message.replace(/: ".*$/s, '')}`
}

class Conversion {
  readonly mistakes: Mistake[] = []
  readonly #anchors = new Map<string, Node>()
  readonly #options: ParseOptions

  constructor(options: ParseOptions) {
    this.#options = options
  }

  convert(source: unknown, path: Path): Node {
    if (isAlias(source)) return this.#aliased(source, path)
    const node = this.#node(source, path)
    if (isNode(source) && source.anchor !== undefined) this.#anchors.set(source.anchor, node)
    return node
  }

  #node(source: unknown, path: Path): Node {
    const at = offset(source)
    if (isMap(source)) return { kind: 'mapping', at, entries: this.#entries(source, path) }
    if (isSeq(source))
      return { kind: 'sequence', at, items: source.items.map((item, index) => this.convert(item, [...path, index])) }
    if (!isScalar(source) || source.value === null) return nothing(at)
    const resolved = (this.#options.resolve ?? resolveReference)(source.source ?? '')
    if ('text' in resolved) return { kind: 'leaf', at, text: resolved.text, quoted: source.type !== Scalar.PLAIN }
    return this.#mistake(at, path, resolved.mistake)
  }

  #entries(map: YAMLMap, path: Path): Entry[] {
    const seen = new Set<string>()
    return map.items.map((pair) => {
      const keyAt = offset(pair.key)
      const key = isScalar(pair.key) ? (pair.key.source ?? '') : ''
      if (!isScalar(pair.key)) this.mistakes.push({ at: keyAt, message: 'expected plain or quoted text as a key' })
      else if (seen.has(key) && !(this.#options.mayRepeat && path.length === 0))
        this.#mistake(keyAt, [...path, key], 'this key occurs twice')
      seen.add(key)
      return { key, keyAt, value: pair.value === null ? nothing(keyAt) : this.convert(pair.value, [...path, key]) }
    })
  }

  /** Aliases share nodes, so that few lines can mean billions of values. */
  #aliased(alias: Alias, path: Path): Node {
    const target = this.#anchors.get(alias.source)
    if (!target) return this.#mistake(offset(alias), path, 'this alias refers to itself')
    if (sizeOf(target) <= MAX_ALIASED) return target
    return this.#mistake(offset(alias), path, `this alias stands for more than ${MAX_ALIASED} values`)
  }

  #mistake(at: number, path: Path, message: string): Leaf {
    this.mistakes.push({ at, key: pathText(path), message })
    return nothing(at)
  }
}

/** The number of values in a node. */
function sizeOf(node: Node): number {
  if (node.kind === 'leaf') return 1
  const children = node.kind === 'sequence' ? node.items : node.entries.map(({ value }) => value)
  return children.reduce((sum, child) => sum + sizeOf(child), 1)
}

function nothing(at: number): Leaf {
  return { kind: 'leaf', at, text: null, quoted: false }
}

function offset(source: unknown): number {
  const range = (source as { range?: [number, number, number] | null } | null)?.range
  return range?.[0] ?? 0
}

/** After a syntax error the parser reports more that follow from it. */
const MAX_FAULTS = 20
const MAX_ALIASED = 1000
const WHOLE_VALUE = 'a reference such as ${env:NAME} must be the whole value'
