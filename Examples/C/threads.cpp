// Predicts from several threads at once, each with its own features: threads Digits.onnx
//
//   c++ -std=c++17 threads.cpp $(pkg-config --cflags --libs kelvin) -pthread -o threads
#include <kelvin.h>

#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

/// Throws the error message of a failed call as an exception.
void check(kelvin_code code, char *error) {
  if (code == KELVIN_OK) return;
  std::string text = error ? error : "no words";
  kelvin_free(error);
  throw std::runtime_error(text);
}

template <typename Handle, void (*release)(Handle *)>
struct Releasing {
  void operator()(Handle *handle) const { release(handle); }
};
using Model = std::unique_ptr<kelvin_model, Releasing<kelvin_model, kelvin_model_release>>;
using Options = std::unique_ptr<kelvin_options, Releasing<kelvin_options, kelvin_options_release>>;
using Features = std::unique_ptr<kelvin_features, Releasing<kelvin_features, kelvin_features_release>>;

Model load(const char *path, const Options &options) {
  char *error = nullptr;
  kelvin_model *model = nullptr;
  kelvin_code code = kelvin_model_load(path, options.get(), nullptr, &model, &error);
  check(code, error);
  return Model(model);
}

}  // namespace

int main(int count, char **arguments) {
  if (count != 2) return std::fprintf(stderr, "usage: threads Digits.onnx\n"), 64;
  try {
    Options options(kelvin_options_new());
    char *error = nullptr;
    kelvin_code code = kelvin_options_set(options.get(), "units", "cpu-only", &error);
    check(code, error);
    Model model = load(arguments[1], options);

    // A 1x3x64x64 image that all threads share, and an output buffer for each thread.
    std::vector<float> pixels(3 * 64 * 64, 0.5f);
    const int64_t shape[] = {1, 3, 64, 64};
    std::vector<std::vector<float>> scores(4, std::vector<float>(10));
    std::vector<std::string> failures(scores.size());
    std::vector<std::thread> threads;
    for (size_t i = 0; i < scores.size(); i++) {
      threads.emplace_back([&, i] {
        try {
          Features inputs(kelvin_features_new()), outputs(kelvin_features_new());
          char *error = nullptr;
          kelvin_array array = {pixels.data(), KELVIN_FLOAT32, 4, shape, nullptr};
          kelvin_code code = kelvin_features_set_array(inputs.get(), "image", &array, &error);
          check(code, error);
          const int64_t rows[] = {1, 10};
          kelvin_array result = {scores[i].data(), KELVIN_FLOAT32, 2, rows, nullptr};
          code = kelvin_features_set_array(outputs.get(), "probabilities", &result, &error);
          check(code, error);
          code = kelvin_predict(model.get(), inputs.get(), outputs.get(), nullptr, nullptr, &error);
          check(code, error);
        } catch (const std::exception &failure) {
          failures[i] = failure.what();
        }
      });
    }
    for (std::thread &thread : threads) thread.join();
    for (const std::string &failure : failures)
      if (!failure.empty()) throw std::runtime_error(failure);
    for (const auto &other : scores)
      if (other != scores[0]) throw std::runtime_error("threads differ");
    std::printf("%zu threads, equal scores; the first is %g\n", scores.size(), scores[0][0]);
  } catch (const std::exception &failure) {
    std::fprintf(stderr, "threads: error: %s\n", failure.what());
    return 1;
  }
}
