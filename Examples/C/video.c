// Classifies every frame of a video without copying the decoded frames:
//
//   ffmpeg -i clip.mp4 -f rawvideo -pix_fmt nv12 - | video MODEL INPUT 1920 1080
//
// Build: cc video.c $(pkg-config --cflags --libs kelvin) -o video
#include <kelvin.h>
#include <stdio.h>
#include <stdlib.h>

static char *error;

static void must(kelvin_code code) {
  if (code == KELVIN_OK) return;
  fprintf(stderr, "video: error: %s\n", error);
  exit(code == KELVIN_ERROR_IO ? 66 : 65);
}

int main(int count, char **arguments) {
  int width = count == 5 ? atoi(arguments[3]) : 0, height = count == 5 ? atoi(arguments[4]) : 0;
  if (width < 1 || height < 1 || width > 16384 || height > 16384) {
    fprintf(stderr, "usage: video MODEL INPUT WIDTH HEIGHT < frames.nv12\n");
    return 64;
  }
  kelvin_model *model = NULL;
  must(kelvin_model_load(arguments[1], NULL, NULL, &model, &error));

  // NV12 stores luma, then one pair of chroma for every two by two pixels, in one block.
  size_t luma = (size_t)width * (size_t)height, chroma = (size_t)((width + 1) / 2 * 2) * (size_t)((height + 1) / 2);
  unsigned char *memory = malloc(luma + chroma);
  if (!memory) return 70;
  kelvin_frame frame = {KELVIN_YCBCR709_VIDEO, width, height, {{memory, 0}, {memory + luma, 0}}};
  kelvin_features *inputs = kelvin_features_new(), *outputs = kelvin_features_new();
  // The frame is set once. Each prediction reads the memory's current contents.
  must(kelvin_features_set_frame(inputs, arguments[2], &frame, 1, KELVIN_FIT_CENTER_CROP, &error));
  for (int number = 0; fread(memory, 1, luma + chroma, stdin) == luma + chroma; number++) {
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
      if (classes) printf("%d  %.4f  %s\n", number, scores[0], labels[0]);
      break;
    }
  }
  kelvin_features_release(inputs);
  kelvin_features_release(outputs);
  kelvin_model_release(model);
  free(memory);
}
