import type { Vector, VectorMeaning, VectorPosition } from './vectors.ts'

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

/** The vector as the corrections of its protocol have it. */
export function corrected(vector: Vector, corrections: readonly Correction[] = []): Vector {
  return corrections.reduce((read, correction) => ({ ...read, ...correctionOf(correction, read) }), vector)
}

function correctionOf({ frames, says }: Correction, vector: Vector): Partial<VectorMeaning> | undefined {
  if (frames && !frames.includes(vector.id)) return undefined
  return typeof says === 'function' ? says(vector) : says
}
