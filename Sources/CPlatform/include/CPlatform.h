#ifndef CPLATFORM_H
#define CPLATFORM_H
#endif
