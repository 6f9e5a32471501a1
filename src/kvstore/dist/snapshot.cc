// What a server writes to go on from, after it was killed.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <climits>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <sstream>

#include "base/logging.h"
#include "kvstore/dist/server.h"

namespace mxnet {
namespace kvstore {
namespace {

constexpr char kStates[] = "states";  // the name of the array that holds the controller's text

}  // namespace

void Server::CheckSnapshotFolder() const {
  MXNET_CHECK_KIND(access(snapshot_folder_.c_str(), W_OK) == 0, IO)
      << "[kvstore] PS_SNAPSHOT_FOLDER='" << snapshot_folder_ << "' is no folder that can be written to";
}

std::string Server::SnapshotPath(int64_t step) const {
  std::string path = snapshot_folder_ + "/server-" + std::to_string(job_->self().number) + "-of-" + std::to_string(job_->servers());
  if (step >= 0) path += "-step-" + std::to_string(step);
  return path + ".params";
}

std::set<int64_t> Server::SnapshotSteps() const {
  std::set<int64_t> steps;
  std::error_code error;
  for (const auto& file : std::filesystem::directory_iterator(snapshot_folder_, error)) {
    const std::string path = file.path().string();
    const size_t at = path.rfind("-step-");
    if (at == std::string::npos) continue;
    const int64_t step = std::strtoll(path.c_str() + at + 6, nullptr, 10);
    if (path == SnapshotPath(step)) steps.insert(step);
  }
  return steps;
}

std::set<int64_t> Server::CommonSteps(std::set<int64_t> common) {
  std::string text;
  for (const int64_t step : common) text += std::to_string(step) + " ";
  std::set<int> waited;
  Head head;
  head.kind = Kind::kSnapshots;
  for (const int rank : job_->transport()->RanksOf(Role::kServer)) {
    if (rank == job_->transport()->rank()) continue;
    waited.insert(rank);
    job_->Tell(rank, head, TextMessage(head, text), INT_MAX);
  }
  std::deque<Event> others;
  while (!waited.empty()) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(200);
    AwaitEvents(&until);
    for (Event& event : TakenEvents()) {
      if (event.lost || Head::Read(event.message.head).kind != Kind::kSnapshots || !waited.count(event.from)) {
        others.push_back(std::move(event));
        continue;
      }
      waited.erase(event.from);
      std::set<int64_t> theirs, both;
      std::istringstream steps(TextOf(event.message));
      for (int64_t step; steps >> step;) theirs.insert(step);
      std::set_intersection(common.begin(), common.end(), theirs.begin(), theirs.end(), std::inserter(both, both.end()));
      common.swap(both);
    }
    for (const int rank : waited) {
      const Peer server = job_->transport()->Get(rank);
      MXNET_CHECK(!server.lost) << "[kvstore] " << LossText(server);
    }
  }
  std::lock_guard<std::mutex> hold(mutex_);
  events_.insert(events_.begin(), std::make_move_iterator(others.begin()), std::make_move_iterator(others.end()));
  return common;
}

void Server::FindSnapshot() {
  const std::set<int64_t> own = SnapshotSteps(), common = CommonSteps(own);
  if (!common.empty()) {
    restored_step_ = *common.rbegin();
    ReadSnapshot(SnapshotPath(restored_step_));
  } else if (access(SnapshotPath(-1).c_str(), F_OK) == 0) {
    ReadSnapshot(SnapshotPath(-1));
  }
  for (const int64_t step : own)  // the job goes on without them
    if (step > restored_step_) unlink(SnapshotPath(step).c_str());
}

bool Server::WriteSnapshot(int64_t step, const KVStore::Controller& controller) {
  std::vector<NDArray> arrays;
  std::vector<std::string> names;
  for (const auto& kept : parts_) {
    const KeptPart& part = *kept.second;
    if (part.count == 0) continue;
    std::ostringstream name;
    name << std::get<0>(kept.first) << ' ' << std::get<1>(kept.first) << ' ' << std::get<2>(kept.first) << ' ' << part.place.begin << ' '
         << part.version << ' ' << part.sync << ' ' << part.key.named << ' ' << part.key.str();
    names.push_back(name.str());
    arrays.push_back(part.stored);
  }
  std::string error;
  const std::string states = Control(-1, kGetStates, "", controller, &error);  // an error: there are none yet
  if (error.empty() && !states.empty()) {
    NDArray text(Shape({static_cast<int64_t>(states.size())}), Context::CPU(), kUint8);
    text.CopyBytesFrom(states.data(), states.size());
    arrays.push_back(text);
    names.push_back(kStates);
  }
  try {
    SaveNDArrays(SnapshotPath(step), arrays, names);
  } catch (const std::exception& e) {
    LogWarning(std::string("[kvstore] no snapshot could be written: ") + e.what());
    return false;
  }
  changed_ = false;
  std::set<int64_t> steps = SnapshotSteps();
  for (; steps.size() > 2; steps.erase(steps.begin())) unlink(SnapshotPath(*steps.begin()).c_str());
  return true;
}

void Server::ReadSnapshot(const std::string& path) {
  std::vector<NDArray> arrays;
  std::vector<std::string> names;
  LoadNDArrays(path, &arrays, &names);
  for (size_t i = 0; i < names.size() && i < arrays.size(); ++i) {
    if (names[i] == kStates) {
      restored_states_.resize(static_cast<size_t>(arrays[i].shape().Size()));
      arrays[i].CopyBytesTo(&restored_states_[0], restored_states_.size());
      continue;
    }
    std::istringstream name(names[i]);
    auto part = std::make_unique<KeptPart>();
    int32_t store = 0;
    int64_t hash = 0;
    bool named = false;
    name >> store >> hash >> part->place.number >> part->place.begin >> part->version >> part->sync >> named;
    name.get();
    std::string key;
    std::getline(name, key, '\0');
    const bool number = !key.empty() && key.size() < 11 && key.find_first_not_of("-0123456789") == std::string::npos;
    MXNET_CHECK_KIND(!name.bad() && (named || number), IO)
        << "[kvstore] " << path << " is no snapshot of a server: it has an array '" << names[i] << "'";
    part->key = named ? KVKey(key) : KVKey(std::stoi(key));
    part->stored = arrays[i];
    part->count = arrays[i].shape().Size();
    parts_[PartName(store, hash, part->place.number)] = std::move(part);
  }
  LogWarning("[kvstore] " + job_->self().str() + " goes on from " + path);
}

}  // namespace kvstore
}  // namespace mxnet
