/* SPDX-License-Identifier: MIT */
/* Solutions with the matrix of all steps, groups of panels by threads. */
#include <string.h>

#include "base/threads.h"
#include "flesh/step.h"

#define CHOOSE(constant, name) \
  case SBS_ISA_##constant: return sbs_flesh_functions_##name();
#define DECLARE(constant, name) sbs_flesh_functions sbs_flesh_functions_##name(void);
SBS_EACH_ISA(DECLARE)

sbs_flesh_functions sbs_flesh_choose_functions(sbs_isa isa) {
  switch (isa) {
    SBS_EACH_ISA(CHOOSE)
    default: return (sbs_flesh_functions){0};
  }
}

/* Groups of panels that are solved. */
typedef struct shared_groups {
  const sbs_flesh_state *state;
  int is_backwards;
} shared_groups;

static sbs_status do_groups(void *context, sbs_share things, int worker) {
  const shared_groups *in = context;
  const sbs_panels *panels = &in->state->flesh->panels;
  const sbs_flesh_functions functions = sbs_flesh_choose_functions(in->state->flesh->isa);
  (void)worker;
  for (size_t group = things.begin; group < things.end; group++) {
    if (in->is_backwards) {
      functions.solve_backwards(panels, group, in->state->right);
      continue;
    }
    sbs_point4 *top = in->state->top + group * panels->top_count;
    memset(top, 0, panels->top_count * sizeof *top);
    functions.solve_forwards(panels, group, in->state->right, top);
  }
  return SBS_OK;
}

/* Groups forwards, the top forwards and backwards, groups backwards. */
sbs_status sbs_flesh_solve(const sbs_flesh_state *state, int threads) {
  const sbs_panels *panels = &state->flesh->panels;
  const sbs_flesh_functions functions = sbs_flesh_choose_functions(state->flesh->isa);
  const size_t groups = panels->group_count - 1;
  shared_groups forwards = {state, 0}, backwards = {state, 1};
  sbs_status status = sbs_share_work(threads, groups, 1, do_groups, &forwards);
  if (status) return status;
  for (size_t i = 0; i < panels->top_count; i++) {
    float *to = state->right[panels->top_rows[i]];
    for (size_t group = 0; group < groups; group++) {
      for (size_t axis = 0; axis < 3; axis++) to[axis] += state->top[group * panels->top_count + i][axis];
    }
  }
  functions.solve_forwards(panels, groups, state->right, NULL);
  functions.solve_backwards(panels, groups, state->right);
  return sbs_share_work(threads, groups, 1, do_groups, &backwards);
}
