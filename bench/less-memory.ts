/** How the image and the launcher of a checkout start Node, so that a run of a million users needs less memory. */
export const LESS_MEMORY = {
  /** Half as much for objects that have just been made, which Node lets grow with the memory of the machine. */
  options: ['--max-semi-space-size=8'],
  /** The C library gives freed buffers back: a run makes and frees one for each page. */
  env: { MALLOC_ARENA_MAX: '1', MALLOC_MMAP_THRESHOLD_: '131072', MALLOC_TRIM_THRESHOLD_: '131072' },
} as const
