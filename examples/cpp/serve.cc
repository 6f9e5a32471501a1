/*
 * Answers HTTP on the loopback interface with one plan on all cores, and says how long that took.
 *
 *   serve m-symbol.json m-0000.params 3x224x224 [port] [requests]
 *   curl --data-binary @pixels.f32 -H 'Content-Type: application/octet-stream' localhost:8080
 *   curl --data '0.1 0.2 0.3' localhost:8080
 *
 * A request has the values of one sample; the answer is a JSON list. After `requests` requests (0:
 * never) the program prints p50 and p99 of their latencies and ends. Port 0 is a free one.
 */
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "mxnet/predictor.hpp"

struct Server {
  mxnet::Predictor predict;
  std::vector<uint32_t> shape;
  int listener;
  size_t requests;
  std::mutex mutex;
  std::vector<double> milliseconds;

  /* The network's answer as JSON. */
  std::string Answer(const std::string& header, const std::string& body) {
    mxnet::Tensor x(shape);
    if (header.find("octet-stream") != std::string::npos) {
      if (body.size() != x.size() * sizeof(float)) throw std::runtime_error("a body of another size than the sample");
      std::memcpy(x.data.data(), body.data(), body.size());
    } else {
      std::istringstream text(body);
      for (float& value : x.data)
        if (!(text >> value)) throw std::runtime_error("fewer numbers than the sample has");
    }
    const mxnet::Tensor y = predict(x);
    std::ostringstream json;
    json.precision(9);
    for (size_t i = 0; i < y.size(); ++i) json << (i ? ", " : "[") << y.data[i];
    return json.str() + "]\n";
  }

  /* Whether that many requests were answered. */
  bool Done(double took) {
    std::lock_guard<std::mutex> lock(mutex);
    milliseconds.push_back(took);
    return requests != 0 && milliseconds.size() >= requests;
  }

  /* The requests of one connection. */
  void Talk(int connection) {
    std::string text;
    char part[1 << 16];
    for (;;) {
      size_t end;
      while ((end = text.find("\r\n\r\n")) == std::string::npos) {
        const ssize_t got = text.size() > (16 << 10) ? 0 : recv(connection, part, sizeof(part), 0);
        if (got <= 0) return;
        text.append(part, static_cast<size_t>(got));
      }
      const auto start = std::chrono::steady_clock::now();
      std::string header = text.substr(0, end);
      std::transform(header.begin(), header.end(), header.begin(), [](unsigned char c) { return std::tolower(c); });
      const size_t at = header.find("content-length:"), most = (mxnet::Tensor::Count(shape) + 1) * 32;
      const size_t length = at == std::string::npos ? 0 : std::strtoul(header.c_str() + at + 15, nullptr, 10);
      for (size_t there = text.size() - end - 4; there < length;) {
        const ssize_t got = recv(connection, part, sizeof(part), 0);
        if (got <= 0) return;
        there += static_cast<size_t>(got);
        if (length <= most) text.append(part, static_cast<size_t>(got));
      }
      std::string status = "200 OK", answer;
      try {
        if (length > most) throw std::runtime_error("too long a body");
        answer = Answer(header, text.substr(end + 4, length));
      } catch (const std::exception& error) {
        status = "400 Bad Request";
        answer = std::string(error.what()) + "\n";
      }
      text.erase(0, std::min(text.size(), end + 4 + length));
      const std::string reply = "HTTP/1.1 " + status + "\r\nContent-Length: " + std::to_string(answer.size()) + "\r\n\r\n" + answer;
      if (send(connection, reply.data(), reply.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(reply.size())) return;
      if (Done(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count())) {
        shutdown(listener, SHUT_RDWR);  // ends `accept` on every thread
        return;
      }
    }
  }

  void Work() {
    for (int connection; (connection = accept(listener, nullptr, nullptr)) >= 0; close(connection)) {
      const timeval patience = {5, 0};
      setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
      Talk(connection);
    }
  }
};

static int Listen(int port) {
  const int listener = socket(AF_INET, SOCK_STREAM, 0), yes = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  sockaddr_in address = {};
  socklen_t size = sizeof(address);
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (listener < 0 || bind(listener, reinterpret_cast<sockaddr*>(&address), size) != 0 || listen(listener, 128) != 0)
    throw std::runtime_error("cannot listen on port " + std::to_string(port) + ": " + std::strerror(errno));
  getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size);
  std::printf("http://127.0.0.1:%d\n", ntohs(address.sin_port));
  std::fflush(stdout);
  return listener;
}

int main(int argc, char** argv) try {
  if (argc < 4) return std::fprintf(stderr, "usage: serve SYMBOL PARAMS 3x224x224 [port] [requests]\n"), 2;
  mxnet::Predictor::Options options;
  options.threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  MXSetNumOMPThreads(1);              // as many requests at a time as cores, one core for each
  std::vector<uint32_t> shape(1, 1);  // a batch of one sample
  std::istringstream dimensions(argv[3]);
  for (std::string d; std::getline(dimensions, d, 'x');) shape.push_back(static_cast<uint32_t>(std::stoul(d)));
  mxnet::Predictor predictor(argv[1], argv[2], options);
  predictor(mxnet::Tensor(shape));  // compiles, and finds errors
  const int listener = Listen(argc > 4 ? std::atoi(argv[4]) : 8080);
  Server server{std::move(predictor), shape, listener, argc > 5 ? std::stoul(argv[5]) : 0, {}, {}};
  std::vector<std::thread> workers;
  for (int i = 0; i < options.threads; ++i) workers.emplace_back(&Server::Work, &server);
  for (std::thread& worker : workers) worker.join();
  std::vector<double>& times = server.milliseconds;
  std::sort(times.begin(), times.end());
  std::printf("%zu requests: p50 %.3f ms, p99 %.3f ms\n", times.size(), times[times.size() / 2], times[times.size() * 99 / 100]);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "serve: %s\n", error.what());
  return 1;
}
