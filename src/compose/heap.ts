import { setFlagsFromString } from 'node:v8'

/**
 * V8 would let the heap grow to several times of what it holds before it looks for garbage, of which a run makes a lot:
 * without this, a run of 200,000 creates takes a third more memory, and no less time. To be called once, when a process
 * begins.
 */
export function keepHeapSmall(): void {
  setFlagsFromString('--heap-growing-percent=30')
}
