#include "CNcurses.h"

const char *cnc_commit(void) {
#ifdef VELLUM_COMMIT
    return VELLUM_COMMIT;
#else
    return "";
#endif
}
