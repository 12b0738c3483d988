/** Stands in the picker while no model is known, so that the first message reaches the participant. */
export const placeholderModel = 'rolecall';
