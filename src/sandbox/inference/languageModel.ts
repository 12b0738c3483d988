import { createHash } from 'node:crypto';
import type { Script } from './script.ts';
import { buildTokenizer, type Tokenizer } from './tokenizer.ts';
import { textsOfGuide } from './topics.ts';

/** A trained model and its tokenizer. */
export interface Engine {
  readonly tokenizer: Tokenizer;
  readonly model: LanguageModel;
  /** `system_fingerprint`. Differs whenever the same seed may give another answer because the model has changed. */
  readonly fingerprint: string;
}

/** Increase this when a change of the code changes the answer to the same request and seed. */
const generation = 4;

/** Trains a model on the text below and on the answers of the guide. */
export function trainEngine(): Engine {
  const texts = [...corpus, ...textsOfGuide];
  const tokenizer = buildTokenizer(texts);
  const model = trainLanguageModel(
    texts.map((text) => tokenizer.encode(text)),
    tokenizer.size,
    tokenizer.endOfText,
  );
  const digest = createHash('sha256')
    .update(`${generation}\n${texts.join('\n')}`)
    .digest('hex');
  return { tokenizer, model, fingerprint: `fp_${digest.slice(0, 12)}` };
}

const baseShare = 0.01;
const sharePerMatchedToken = 0.02;

/**
 * The distribution from which the next token is sampled. Without a script, it is that of the n-gram model. With a
 * script, it is that of the script mixed with 1 to 7 % of the n-gram model, depending on how much of the context that
 * model knows.
 */
export function nextProbabilities(model: LanguageModel, history: readonly number[], script?: Script): Float64Array {
  const { probabilities, matched } = model.next(history);
  const planned = script?.next();
  if (!planned) return probabilities;
  const share = baseShare + sharePerMatchedToken * matched;
  for (let id = 0; id < probabilities.length; id++) probabilities[id] = (probabilities[id] ?? 0) * share;
  for (const [id, weight] of planned) probabilities[id] = (probabilities[id] ?? 0) + (1 - share) * weight;
  return probabilities;
}

/**
 * A small but real language model: interpolated Kneser-Ney over sequences of up to four token ids (three of context).
 *
 * p(w | h) = max(count(h w) - D, 0) / total(h) + D · types(h) / total(h) · p(w | h without its first token)
 *
 * The highest order counts occurrences, and lower orders count the different contexts in which a token occurs (Kneser
 * and Ney 1995; Chen and Goodman 1998). The lowest order is interpolated with the uniform distribution, so that the
 * probability of every token is greater than zero. The probabilities add up to one.
 */
export interface LanguageModel {
  /**
   * The probabilities of all token ids after `history`, in an array that the caller may change. `matched` is the number
   * of tokens of the history (0 to 3) that the model knows as context.
   */
  next(history: readonly number[]): { probabilities: Float64Array; matched: number };
}

interface Context {
  total: number;
  readonly counts: Map<number, number>;
}

type Contexts = Map<number, Context>;

const order = 4;
const discount = 0.75;

/**
 * @param texts token ids, without `endOfText`.
 * @param size the number of different token ids.
 */
export function trainLanguageModel(texts: Iterable<readonly number[]>, size: number, endOfText: number): LanguageModel {
  const key = (context: readonly number[]): number => context.reduce((sum, id) => sum * size + id, 0);
  const tables: Contexts[] = Array.from({ length: order }, () => new Map());
  const countInOrder = (length: number, context: readonly number[], token: number): boolean => {
    const table = tables[length] as Contexts;
    const contextKey = key(context);
    let entry = table.get(contextKey);
    if (!entry) {
      entry = { total: 0, counts: new Map() };
      table.set(contextKey, entry);
    }
    const previousCount = entry.counts.get(token) ?? 0;
    entry.counts.set(token, previousCount + 1);
    entry.total++;
    return previousCount === 0;
  };
  // A lower order only counts a token when it is new to the order above. This gives the continuation count.
  const countToken = (context: readonly number[], token: number): void => {
    for (let length = order - 1; length >= 0; length--)
      if (!countInOrder(length, context.slice(context.length - length), token)) return;
  };
  for (const text of texts) {
    const padded = [...Array<number>(order - 1).fill(endOfText), ...text, endOfText];
    for (let index = order - 1; index < padded.length; index++)
      countToken(padded.slice(index - order + 1, index), padded[index] as number);
  }

  /** The distribution of the contexts, which are sorted by descending length, and the share left for shorter ones. */
  const interpolate = (contexts: readonly Context[]): { probabilities: Float64Array; left: number } => {
    const probabilities = new Float64Array(size);
    let left = 1;
    for (const { counts, total } of contexts) {
      for (const [id, count] of counts)
        probabilities[id] = (probabilities[id] ?? 0) + (left * (count - discount)) / total;
      left *= (discount * counts.size) / total;
    }
    return { probabilities, left };
  };
  const add = (to: Float64Array, share: number, distribution: Float64Array): void => {
    for (let id = 0; id < size; id++) to[id] = (to[id] ?? 0) + share * (distribution[id] ?? 0);
  };
  // The distribution without context does not depend on the history.
  const withoutContext = interpolate([...(tables[0]?.values() ?? [])]);
  add(withoutContext.probabilities, withoutContext.left, new Float64Array(size).fill(1 / size));

  return {
    next(history) {
      const contexts: Context[] = [];
      for (let length = 1; length < order && length <= history.length; length++) {
        const context = tables[length]?.get(key(history.slice(history.length - length)));
        if (!context) break;
        contexts.unshift(context);
      }
      const { probabilities, left } = interpolate(contexts);
      add(probabilities, left, withoutContext.probabilities);
      return { probabilities, matched: contexts.length };
    },
  };
}

/** The training text: prose on the subjects of the demo, one paragraph per item. */
const corpus: readonly string[] = [
  'An organization is the outer wall of everything that belongs together in the cloud. People, service accounts, groups and roles live inside it, and nothing in one organization can see into another. When you sign in, the service first asks which organization you mean, because the same person may belong to several of them. A name is only for people to read; the service knows each organization by its id.',
  'A group is a list with a purpose. It says who belongs to it, and it says which roles its members receive. A person who joins the group receives all of its roles at once, and a person who leaves the group loses them at once. This is why groups are better than single grants: nobody has to remember what a person was given three years ago, because the group remembers it.',
  'A role is a set of permissions under one name. The name should say what the role is for, and the description should say what it allows. A role that allows too much is a risk, and a role that allows too little is a daily annoyance. Most organizations need only a few roles: one for readers, one for people who deploy, one for people who look after access, and one for emergencies.',
  'To find out what a person can do, start with the person and take every group they belong to. Then take every role of each of those groups and join their permissions. What comes out is the effective access of that person. It is often more than anybody expected, because groups grow over the years and roles are added to groups for a good reason that was forgotten later.',
  'To find out who can do a certain thing, start with the permission and take every role that contains it. Then take every group that carries one of these roles, and then every member of each group. The question sounds simple, yet it is the one that auditors ask first and the one that most systems answer last. A good tool answers it in a second.',
  'A service account is an identity without a person behind it. It is used by programs that run at night, by pipelines that build and deploy, and by monitors that never sleep. A service account should have one purpose, one owner and the smallest role that lets it work. When nobody can say what a service account does, it is time to find out, and then to remove it.',
  'An access review is a walk through all groups with the people who own them. For each member the owner says keep or remove, and for each role the owner says whether the group still needs it. The review is written down, so that next month somebody can compare. What changed since the last review is usually more interesting than the whole list.',
  'A language model looks at the words so far and says how probable each next word is. That is all it does. To write a text, a program takes one of the probable words, adds it to the text and asks again. The art lies in how the word is taken: always the most probable one, or sometimes another one, so that the text does not go round in circles.',
  'A token is the unit in which a model reads and writes. Many tokens are whole words with the space before them, others are parts of words, signs or single bytes. A character that the model has never seen is spread over several tokens, one for each of its bytes. A program that shows tokens one by one must join the bytes before it can show the character.',
  'The temperature says how much the model listens to its own doubts. At zero the most probable token always wins, and the same question always gets the same answer. At one the model draws from the distribution as it is. Above one the distribution becomes flat, the rare words come forward, and the text becomes strange and sooner or later falls apart.',
  'A seed makes chance repeatable. The same seed with the same request gives the same answer, as long as the model itself has not changed. The fingerprint of the system says whether it has. If you want to compare two prompts, keep the seed and change the prompt. If you want to see how sure a model is of its answer, keep the prompt and change the seed.',
  'A log-probability is the logarithm of a probability. Zero means certain, and the more negative the number is, the less probable the token was. When an editor colours each word by its probability, you can see at a glance where the model was sure and where it guessed. Names, numbers and the first words of a sentence are often the places where it guessed.',
  'A tool is a function that the model may ask for. The request describes each tool by its name, its purpose and its parameters. The model cannot run the tool: it can only say which tool it wants and with which arguments. The program that sent the request runs the tool, sends the result back, and the model goes on from there.',
  'A stream sends the answer as it is written. The first words appear after a moment, and the reader can stop the answer when it goes in the wrong direction. When the reader stops it, the request should end, because every further token is work for nothing. A stream that breaks off without an end is an incomplete answer, and the program should say so.',
  'A retry is a second attempt at the same thing. It helps when the failure was an accident, such as a broken connection or a service that was busy. It does harm when the first attempt has worked and only the answer was lost. Retry what can be repeated safely, wait a little longer each time, and give up after a few attempts with a clear message.',
  'An error message has three parts. It says what happened, it says why, and it says what to do next. It does not blame the reader and it does not show what only the programmer understands. The details belong in the log, and the message can say where the log is. If nothing can be done, say that too, so that nobody tries.',
  'A secret lives in the store for secrets of the operating system and nowhere else. It is not in a file of the project, not in the history of the shell and not in the settings that travel to other machines. When a secret has been seen by somebody who should not have seen it, change it. To hope that nobody noticed is not a plan.',
];
