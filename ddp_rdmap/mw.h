/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory windows of type 2: an STag of their own for a part of a registration, for one QP at a time. */
#ifndef MW_H
#define MW_H

#include "qp_obj.h"

/* Checks and copies.  Errors of iw_post_send(). */
int mw_post(struct iw_qp *qp, struct wr_mem *mem, const struct iw_mw_bind *bind);

/* Binds; false: the window is bound, the registration does not allow it, or one of them is gone. */
bool mw_bind(struct iw_qp *qp, const struct wr_mem *mem);

#endif
