import * as z from 'zod/mini';

// Schemas try to compile themselves when they are made; the page's policy refuses that, and the console would say so.
z.config({ jitless: true });
