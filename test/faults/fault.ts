import type { FindingCode } from '../../src/diagnose/codes.ts'
import type { Site } from './site.ts'

/** Something that breaks, and the finding that names it; without a code there is none, and `waybridge why` alone says what it is. */
export interface Fault {
  readonly what: string
  readonly code?: FindingCode
  /** After how many seconds the finding is due, as src/diagnose/README.md says; left out: at once. */
  readonly dueS?: number
  /** After how many seconds it is due to end, once the cause is gone; left out: at once. */
  readonly endsS?: number
  /** Why its end is not waited for. */
  readonly endsLater?: string
  /** The device whose `waybridge why` names it; without it the finding concerns no van. */
  readonly van?: string
  /** Vans none of whose links may be broken meanwhile. */
  readonly well?: readonly string[]
  /** For how many seconds it goes on once it is named. */
  readonly lastsS?: number
  /**
   * Where it is injected if not at the first site: on a small disk of its own; at a large fleet; where all that take minutes run
   * together; after these, where a listener for all protocols is; where no other van falls silent; where the API speaks HTTPS; where a
   * listener has an old server; where all bounds are low.
   */
  readonly at?: 'disk' | 'fleet' | 'long' | 'auto' | 'waves' | 'tls' | 'trial' | 'bounds'
  /** What is wrong about what was told of it, once it is over; undefined: nothing. */
  readonly told?: (site: Site) => string | undefined
  /** What must be so before it can be injected, in a sentence, and whether it is. */
  readonly needs?: readonly [sentence: string, isSo: () => boolean]
  /** What its findings say, or `why` if it has none, and what no finding says until it is over. */
  readonly says?: RegExp
  readonly never?: RegExp
  /** How the verdict begins. */
  readonly heads?: RegExp
  /** Other findings that are true as well; all but these, its own and `ALWAYS_TRUE` are false. */
  readonly also?: readonly FindingCode[]
  /** Whether `npm test` injects it; `npm run faults` injects all. */
  readonly isQuick?: true
  /** Breaks it; returns how it is mended. */
  readonly begin: (site: Site) => Promise<(site: Site) => unknown>
}
