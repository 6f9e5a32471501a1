// What a server writes to go on from, after it was killed.
#include <unistd.h>

#include <sstream>

#include "base/logging.h"
#include "kvstore/dist/server.h"

namespace mxnet {
namespace kvstore {
namespace {

constexpr char kStates[] = "states";  // the name of the array that holds the controller's text

}  // namespace

std::string Server::SnapshotPath() const {
  return snapshot_folder_ + "/server-" + std::to_string(job_->self().number) + "-of-" + std::to_string(job_->servers()) + ".params";
}

void Server::WriteSnapshot(const KVStore::Controller& controller) {
  std::vector<NDArray> arrays;
  std::vector<std::string> names;
  for (const auto& kept : parts_) {
    const KeptPart& part = *kept.second;
    if (part.count == 0) continue;
    std::ostringstream name;
    name << std::get<0>(kept.first) << ' ' << std::get<1>(kept.first) << ' ' << std::get<2>(kept.first) << ' ' << part.place.begin << ' '
         << part.sync << ' ' << part.key.named << ' ' << part.key.str();
    names.push_back(name.str());
    arrays.push_back(part.stored);
  }
  std::string error;
  const std::string states = Control(-1, kGetStates, "", controller, &error);  // an error: there are none yet
  if (error.empty() && !states.empty()) {
    NDArray text(Shape({static_cast<int64_t>(states.size())}), Context::CPU(), kUint8);
    text.SyncCopyFromCPU(states.data(), states.size());
    arrays.push_back(text);
    names.push_back(kStates);
  }
  try {
    SaveNDArrays(SnapshotPath(), arrays, names);
    changed_ = false;
  } catch (const std::exception& e) {
    LogWarning(std::string("[kvstore] no snapshot could be written: ") + e.what());
  }
}

void Server::ReadSnapshot() {
  const std::string path = SnapshotPath();
  MXNET_CHECK_KIND(access(snapshot_folder_.c_str(), W_OK) == 0, IO)
      << "[kvstore] PS_SNAPSHOT_FOLDER='" << snapshot_folder_ << "' is no folder that can be written to";
  if (access(path.c_str(), F_OK) != 0) return;
  std::vector<NDArray> arrays;
  std::vector<std::string> names;
  LoadNDArrays(path, &arrays, &names);
  for (size_t i = 0; i < names.size() && i < arrays.size(); ++i) {
    if (names[i] == kStates) {
      restored_states_.resize(static_cast<size_t>(arrays[i].shape().Size()));
      arrays[i].SyncCopyToCPU(&restored_states_[0], restored_states_.size());
      continue;
    }
    std::istringstream name(names[i]);
    auto part = std::make_unique<KeptPart>();
    int32_t store = 0;
    int64_t hash = 0;
    bool named = false;
    name >> store >> hash >> part->place.number >> part->place.begin >> part->sync >> named;
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
