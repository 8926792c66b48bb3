// Classifies an image: classify MODEL IMAGE
//
//   cc classify.c $(pkg-config --cflags --libs kelvin) -o classify
#include <kelvin.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *error;

static void must(kelvin_code code) {
  if (code == KELVIN_OK) return;
  fprintf(stderr, "classify: error: %s\n", error);
  kelvin_free(error);
  exit(code);
}

// Finds the name of the first input without a JSON parser.
static const char *input_of(const char *description, char *name, size_t size) {
  const char *inputs = strstr(description, "\"inputs\"");
  const char *start = inputs ? strstr(inputs, "\"name\" : \"") : NULL;
  if (!start) return NULL;
  start += strlen("\"name\" : \"");
  const char *end = strchr(start, '"');
  if (!end || (size_t)(end - start) >= size) return NULL;
  memcpy(name, start, (size_t)(end - start));
  name[end - start] = 0;
  return name;
}

int main(int count, char **arguments) {
  if (count != 3) {
    fprintf(stderr, "usage: classify MODEL IMAGE\n");
    return 64;
  }
  char *description = NULL, name[256];
  kelvin_model *model = NULL;
  must(kelvin_model_load(arguments[1], NULL, NULL, &model, &error));
  must(kelvin_model_description(model, &description, &error));
  if (!input_of(description, name, sizeof name)) {
    fprintf(stderr, "classify: error: the model takes nothing\n");
    return 65;
  }
  kelvin_free(description);

  kelvin_features *inputs = kelvin_features_new(), *outputs = kelvin_features_new();
  must(kelvin_features_set_image_file(inputs, name, arguments[2], KELVIN_FIT_SCALE_FILL, &error));
  must(kelvin_predict(model, inputs, outputs, NULL, NULL, &error));

  const char *const *names;
  size_t features;
  must(kelvin_features_names(outputs, &names, &features, &error));
  for (size_t i = 0; i < features; i++) {
    kelvin_kind kind;
    must(kelvin_features_kind(outputs, names[i], &kind, &error));
    if (kind != KELVIN_KIND_DICTIONARY) continue;
    const char *const *labels;
    const double *scores;
    size_t classes;
    bool is_numbered;
    must(kelvin_features_get_dictionary(outputs, names[i], &labels, &scores, &classes, &is_numbered, &error));
    for (size_t k = 0; k < classes && k < 3; k++) printf("%.4f  %s\n", scores[k], labels[k]);
    break;
  }
  kelvin_features_release(inputs);
  kelvin_features_release(outputs);
  kelvin_model_release(model);
}
