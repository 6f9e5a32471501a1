#include "operator/record/meeting.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "mxnet/error.h"

namespace mxnet {
namespace {

struct Round {
  std::vector<MeetingNumbers> brought;
  bool complete = false, given_up = false;
};

struct Rounds {
  std::mutex mu;
  std::condition_variable changed;
  std::map<std::string, std::list<std::shared_ptr<Round>>> open;  // by key, the oldest first
};

// Never destroyed: calls may wait while the process ends.
Rounds& All() {
  static auto* const rounds = new Rounds;
  return *rounds;
}

std::shared_ptr<Round> Join(std::list<std::shared_ptr<Round>>* rounds, const Context& device) {
  for (const auto& round : *rounds) {
    const bool came =
        std::any_of(round->brought.begin(), round->brought.end(), [&](const MeetingNumbers& m) { return m.device == device; });
    if (!came) return round;
  }
  rounds->push_back(std::make_shared<Round>());
  return rounds->back();
}

void Close(Rounds* all, const std::string& key, const std::shared_ptr<Round>& round) {
  const auto found = all->open.find(key);
  if (found == all->open.end()) return;
  found->second.remove(round);
  if (found->second.empty()) all->open.erase(found);
}

}  // namespace

std::vector<MeetingNumbers> MeetOthers(const std::string& who, const std::string& key, int expected, MeetingNumbers own, double seconds) {
  Rounds& all = All();
  std::unique_lock<std::mutex> lock(all.mu);
  const std::string name = key + "/" + std::to_string(expected);
  const std::shared_ptr<Round> round = Join(&all.open[name], own.device);
  round->brought.push_back(std::move(own));
  if (static_cast<int>(round->brought.size()) >= expected) {
    std::sort(round->brought.begin(), round->brought.end(),
              [](const MeetingNumbers& a, const MeetingNumbers& b) { return a.device < b.device; });
    round->complete = true;
    Close(&all, name, round);
    all.changed.notify_all();
  } else {
    all.changed.wait_for(lock, std::chrono::duration<double>(seconds), [&] { return round->complete || round->given_up; });
  }
  if (!round->complete && !round->given_up) {
    round->given_up = true;
    Close(&all, name, round);
    all.changed.notify_all();
  }
  MXNET_CHECK(round->complete) << who << "key " << key << ": " << round->brought.size() << " of ndev = " << expected
                               << " devices have called within " << seconds
                               << " seconds; all of them must call, each on a device of its own";
  return round->brought;
}

}  // namespace mxnet
