"""Names under which 1.x had experimental parts; names_1_9_1.txt says where each part lives now."""
from .. import amp
