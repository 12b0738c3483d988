/** Something to say about a place in a document that people write by hand. */
export interface DocumentProblem {
  /** UTF-16 code units from the start of the text. */
  readonly start: number;
  readonly end: number;
  readonly severity: 'error' | 'warning' | 'information';
  /** A sentence, localized. */
  readonly message: string;
  /** Stable: what a quick fix is chosen by. */
  readonly code: string;
}
