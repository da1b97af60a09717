import type { Vector, VectorMeaning, VectorPosition, VectorSaid } from './vectors.ts'

/** What the specification has in place of what vectors say. */
export interface Correction {
  /** The clause of the specification. */
  readonly reason: string
  /** The ids of the vectors; left out: a rule for all of the protocol. */
  readonly frames?: readonly string[]
  /** What replaces those parts of the meaning; a function may leave a vector as it is (undefined). */
  readonly says: Partial<VectorMeaning> | ((vector: Vector) => Partial<VectorMeaning> | undefined)
}

/** A correction of fields of each position: `says: eachPosition(() => ({ valid: true }))`. */
export function eachPosition(
  fields: (position: VectorPosition, vector: Vector) => Partial<VectorPosition>,
): (vector: Vector) => Partial<VectorMeaning> {
  return (vector) => ({
    positions: vector.positions.map((position) =>
      position.noPosition ? position : { ...position, ...fields(position, vector) },
    ),
  })
}

/** A correction of what each position says besides, or each message without one: `says: eachSaid(({ batteryV }) => ({ powerV: batteryV }))`. */
export function eachSaid(
  said: (said: VectorSaid, vector: Vector) => VectorSaid,
): (vector: Vector) => Partial<VectorMeaning> {
  return (vector) => ({
    positions: vector.positions.map((position) =>
      position.said ? { ...position, said: said(position.said, vector) } : position,
    ),
  })
}

/** The vector as the corrections of its protocol have it. */
export function corrected(vector: Vector, corrections: readonly Correction[] = []): Vector {
  return corrections.reduce((read, correction) => ({ ...read, ...correctionOf(correction, read) }), vector)
}

function correctionOf({ frames, says }: Correction, vector: Vector): Partial<VectorMeaning> | undefined {
  if (frames && !frames.includes(vector.id)) return undefined
  return typeof says === 'function' ? says(vector) : says
}
