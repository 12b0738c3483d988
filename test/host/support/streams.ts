/** A streamed answer of the inference service that ends as it should. */
export function eventStream(chunks: readonly object[]): Response {
  const events = [...chunks.map((chunk) => JSON.stringify(chunk)), '[DONE]'].map((data) => `data: ${data}\n\n`);
  return new Response(events.join(''), { headers: { 'content-type': 'text/event-stream' } });
}
